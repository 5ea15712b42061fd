# A page is of the range behind its own.
# in: bits_of()
# tests: stats.bats working sets
s/RANGE_PAGES - 1 - high/RANGE_PAGES - 2 - high/
