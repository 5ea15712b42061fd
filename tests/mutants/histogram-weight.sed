# A sampled record counts once.
# in: add_record()
# tests: histogram.bats sampled trace
s/value, m->weight/value, 1/
