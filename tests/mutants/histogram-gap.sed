# Of sorted accesses, the last pass is left out.
# in: sort()
# tests: histogram.bats sorted list
s/gap = gap_of(k);/gap = gap_of(k + 1);/
