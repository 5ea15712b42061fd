# A name with a quote is written as it is.
# file: tools/names.c
# tests: export.bats CSV: order
s# || text\[i\] == '\"'##
