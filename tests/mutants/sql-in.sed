# A table is read once for each value of a list.
# in: is_useful()
# tests: sql.bats are one scan
s/sqlite3_vtab_in(info, i, -1)/false/
