# The chance of an accident is that of one comparison.
# in: judge()
# tests: diff.bats noise
s/ \/ (comparisons ? comparisons : 1)//
