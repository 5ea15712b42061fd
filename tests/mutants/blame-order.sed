# Requests begin in the order in which they complete.
# in: blame_add()
# tests: blame.bats nanosecond
s/b->coming.nr == BLAME_WINDOW/b->coming.nr/
