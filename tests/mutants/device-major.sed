# The major number is taken from bit 16 on, not from bit 20 on.
# file: tools/record.c
# tests: columns.bats
s|device >> 20)|device >> 16)|
