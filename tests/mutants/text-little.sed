# A share of almost nothing is nothing.
# file: tools/text.c
# tests: export.bats record: what is lost
s|percent < 0.01)|percent < 0.0)|
