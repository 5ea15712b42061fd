# A range without bytes has bytes in common with another.
# in: io_ranges_meet()
# tests: slowest.bats nanosecond
s/size \&\& other_size \&\& //
