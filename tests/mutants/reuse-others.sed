# The keys that are folded have no row.
# in: patterns_row_of()
# tests: profile_trace.bats reuse: each
s/row_of\[i\] = p->nr - 1;/row_of[i] = 0;/
