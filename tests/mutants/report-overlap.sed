# The time in the device is in one bucket.
# in: grid_overlap()
# tests: report.bats by hand
s/from < to && i < last/from < to \&\& 0/
