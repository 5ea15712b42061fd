# A percentile is one of what was seen.
# in: distribution_bounds()
# tests: stats.bats within the bounds
s/upper\[i\] = rank_of(all, /upper[i] = rank_of(all - missing, /
