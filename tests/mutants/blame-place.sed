# The owner that takes the place of another is not found there.
# in: leave_crowd()
# tests: blame.bats nanosecond
/place\[c->owners\[c->nr\]\] =/d
