# Accesses stay in the order in which they ended.
# in: is_before()
# tests: histogram.bats another order|sorted list
s/a->time < b->time/false/
