# Events before the trace are in its first interval.
# in: interval_of()
# tests: stats.bats the sums of each interval
s/-((interval - 1 - since) \/ interval)/0/
