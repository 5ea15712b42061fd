# The P99 of intervals are compared, whatever events they have.
# in: end()
# tests: diff.bats computes
s/series_of(&k->at\[DIFF_P99\].tested.*/;/
