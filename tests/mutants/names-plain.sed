# A name with a quote is written as it is.
# file: tools/csv.c
# tests: export.bats CSV: order
s# || memchr(text, '"', length)##
