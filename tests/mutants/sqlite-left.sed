# A database that could not be completed is left.
# in: export_sqlite()
# tests: sql.bats leave no file
s/unlink(f.hidden);/f.made = false;/
