# The milliseconds of a request are a thousand times too large.
# file: tools/category_block.c
# tests: columns.bats
s|ns / 1000000)|ns / 1000)|
