# Major numbers are shifted as in dev_t of old.
# file: tools/record.c
# tests: columns.bats
s|device >> 20)|device >> 16)|
