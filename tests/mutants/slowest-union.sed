# Two spans that overlap count twice.
# in: spans_add()
# tests: slowest.bats nanosecond
s/s->at\[first - 1\].end >= begin/s->at[first - 1].end == begin/
