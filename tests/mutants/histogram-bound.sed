# There is no bound of buckets.
# in: histogram_add()
# tests: histogram.bats largest numbers
s/return h->cells.nr <= HISTOGRAM_CELLS/return true/
