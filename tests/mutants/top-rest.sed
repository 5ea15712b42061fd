# What is of keys beyond the bound is in no row.
# in: row_of_other()
# tests: top.bats of a million files
s/return TOP_REST;/return TOP_NO_ROW;/
