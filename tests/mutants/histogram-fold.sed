# The histogram of others has the same bucket several times.
# in: unite()
# tests: histogram.bats 80 columns|sums stay whole
s/to && !compare_cells/to > nr \&\& !compare_cells/
