# A failed read has a size.
# file: tools/category_fs.c
# tests: columns.bats
s|fs->result > 0 ? fs->result : 0|fs->result|
