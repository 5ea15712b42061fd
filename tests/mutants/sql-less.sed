# A condition with < or <= selects from its number on.
# in: set_range()
# tests: sql.bats whoever checks
s/SQLITE_INDEX_CONSTRAINT_LE ? INT64_MIN/SQLITE_INDEX_CONSTRAINT_LE ? below/
