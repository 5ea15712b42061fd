# A field does not begin at a semicolon.
# file: tools/csv.c
# tests: export.bats CSV: no name
s/return c == ';' || /return /
