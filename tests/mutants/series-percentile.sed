# The percentile of an interval is that of its first row.
# in: add_point()
# tests: stats.bats as a picture
s/distribution_merge(&latencies, /if (!latencies.nr) &/
