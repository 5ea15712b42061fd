# Accesses stay in the order in which they ended.
# in: trace/access.c
# tests: histogram.bats another order|sorted list
s/a->time < b->time/false/
