# Whoever has a part of the wait is the neighbour.
# in: reason_of()
# tests: waits.bats neighbour|another process
s/is_most(row->charged.time, row->requests.time)/row->charged.time/
