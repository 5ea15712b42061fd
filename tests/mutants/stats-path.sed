# Each path has the key of the first one.
# in: key_table_add()
# tests: stats.bats sums by each key
s/place = id - paths->base/place = 0 * id/
