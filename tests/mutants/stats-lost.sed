# Lost events are not counted.
# in: report()
# tests: stats.bats lost, missed
s/.lost = merge->lost/.lost = 0/
