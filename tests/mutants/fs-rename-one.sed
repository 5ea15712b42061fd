# RENAME shows only its first path.
# file: tools/category_fs.c
# tests: columns.bats
s|fs->op != IOT_FS_RENAME|fs->op == IOT_FS_RENAME|
