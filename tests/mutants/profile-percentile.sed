# A percentile is that of the rank below.
# in: profile_percentile()
# tests: tool.bats profile: 
s#kind->accesses \* percent + 99#kind->accesses * percent#
