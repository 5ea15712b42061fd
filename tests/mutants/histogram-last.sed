# The end of a range is in it.
# in: set_range()
# tests: histogram.bats a range has
s/last = end - 1/last = end/
