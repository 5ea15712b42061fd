# A minus sign begins no formula.
# in: formula()
# tests: export.bats CSV: no name
s/strchr("=+-@", /strchr("=+@", /
