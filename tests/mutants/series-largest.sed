# A column shows the last of several intervals.
# in: trace/stats_series.c
# tests: stats.bats a line for each value
s/height > \*at ? height : \*at/height/
