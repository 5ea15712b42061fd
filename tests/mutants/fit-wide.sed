# Each character is taken for one column.
# in: unit_at()
# tests: watch.bats each line fits
s/unit.columns = columns;/unit.columns = 1;/
