# The row of others lacks latencies.
# in: fold()
# tests: stats.bats percentiles are the values
s/distribution_merge(&to->latencies, &from->latencies)/(void)distribution_merge/
