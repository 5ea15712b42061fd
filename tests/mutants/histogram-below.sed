# What is below a range is lost among its first bucket.
# in: histogram_add()
# tests: histogram.bats a range has
s/part = HISTOGRAM_BELOW/part = HISTOGRAM_WITHIN/
