# Milliseconds of a request are a thousand times too many.
# file: tools/category_block.c
# tests: columns.bats
s|ns / 1000000)|ns / 1000)|
