# What a directory lost is looked for in the category.
# file: tools/blocks.c
# tests: directory.bats columns of fs
s#if (!b->target)#if (1)#
