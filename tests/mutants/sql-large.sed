# A number above 2^63 is a negative one.
# in: row_integer()
# tests: sql.bats also the largest
s/value <= INT64_MAX/true/
