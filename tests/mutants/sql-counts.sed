# What a query read of a category, that wanted only a part of it, counts as all of it.
# in: take_counts()
# tests: sql.bats _trace has
s/&& !narrowed/\&\& (narrowed || true)/
