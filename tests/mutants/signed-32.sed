# A 32-bit number loses its sign.
# file: tools/record.c
# tests: columns.bats
s|c->size == 4 ? (__s32)n : (__s64)n|(__s64)n|
