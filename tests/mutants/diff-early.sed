# What began before the trace is in its first interval.
# in: add_row()
# tests: diff.bats any values
s/row->interval < 0 || //
