# An access at the same place is strided, by no distance.
# in: order_of()
# tests: profile_trace.bats by their rules
s/start == s->start/start + 1 == s->start/
