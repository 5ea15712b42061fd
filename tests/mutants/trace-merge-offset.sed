# The offset of a trace is not added.
# in: trace_merge_time()
# tests: traces_merge.bats offsets are added
s|wall_time(&s->check.clock, monotonic) + s->offset|wall_time(\&s->check.clock, monotonic)|
