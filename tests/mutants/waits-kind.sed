# The first row of a file has the requests of all its calls.
# in: row_of()
# tests: waits.bats belong
s/row->kind == kind && /kind < WAITS_KINDS \&\& /
