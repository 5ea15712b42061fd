# Protection is shown of every call.
# file: tools/category_fs.c
# tests: columns.bats
s|return fs->op == IOT_FS_MMAP |return fs->op != IOT_FS_MMAP |
