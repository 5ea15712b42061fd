# A percentile is that of the rank below.
# file: tools/profile.c
# tests: tool.bats profile: 
s#kind->accesses \* percent + 99#kind->accesses * percent#
