# The protection of a mapping is shown for all calls but MMAP.
# file: tools/category_fs.c
# tests: columns.bats
s|return fs->op == IOT_FS_MMAP |return fs->op != IOT_FS_MMAP |
