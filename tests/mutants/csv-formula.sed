# A minus sign begins no formula.
# file: tools/csv.c
# tests: export.bats CSV: no name
s/strchr("=+-@", /strchr("=+@", /
