# Names of the same length that meet in the table are one key.
# in: intern_add()
# tests: stats.bats sums by each key
s/e->hash == hash.*))$/e->length == length)/
