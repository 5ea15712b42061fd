# Of accesses that began together, any may be the first.
# in: is_before()
# tests: histogram.bats runs of reads
s/: a->start < b->start/: false/
