# The heap compares with one child only.
# in: sift_down()
# tests: profile_trace.bats in which they began
s/child + 1 < p->nr_held/false/
