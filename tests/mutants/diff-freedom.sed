# Both series have the same spread.
# in: series_chance()
# tests: diff.bats computes
s/freedom = (p + q).*/freedom = a->independent + b->independent - 2;/
