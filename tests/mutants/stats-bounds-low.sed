# What is missing has made no percentile smaller.
# in: distribution_bounds()
# tests: stats.bats within the bounds
s/upper\[i\] - missing : 0/upper[i] : 0/
