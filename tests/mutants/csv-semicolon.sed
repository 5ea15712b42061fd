# A field does not begin at a semicolon.
# in: begins()
# tests: export.bats CSV: no name
s/return c == ';' || /return /
