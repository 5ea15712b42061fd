# What was read of a category by a query with LIMIT counts as all of it.
# in: take_counts()
# tests: sql.bats _trace has
s/r->ended && !narrowed/!narrowed/
