# The frames of a file become one, whatever their size.
# in: trace_gather_is_full()
# tests: export.bats are merged by their end
s#return g->frame.size \&\&#return 0 \&\&#
