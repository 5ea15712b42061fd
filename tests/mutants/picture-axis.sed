# An axis whose ends are almost the same has no place for a value.
# in: axis_open()
# tests: profile_trace.bats any numbers in a record
s/ + size \* MARGIN//
