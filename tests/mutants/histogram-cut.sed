# The first bucket is not cut where the range begins.
# in: histogram_bounds()
# tests: histogram.bats a range has
s/first = first > s->first.*/;/
