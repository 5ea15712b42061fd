# A power of two is in the bucket below it.
# in: log_bucket()
# tests: histogram.bats sqlite3
s/64 - __builtin_clzll(value)/64 - __builtin_clzll((value - 1) | 1)/
