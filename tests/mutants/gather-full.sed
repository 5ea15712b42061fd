# The frames of a file become one, whatever their size.
# file: tools/trace_gather.c
# tests: export.bats are merged by their end
s#return g->frame.size \&\&#return 0 \&\&#
