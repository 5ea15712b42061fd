# An event counts in the bucket in which it ended.
# in: spread_add()
# tests: report.bats sums up
s/grid_bucket(s->grid, time)/grid_bucket(s->grid, time + m->latency)/
