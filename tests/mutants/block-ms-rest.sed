# The fraction of milliseconds is that of a microsecond.
# file: tools/category_block.c
# tests: columns.bats
s|ns % 1000000)|ns % 1000)|
