# The end of the time that is wanted belongs to it.
# in: is_in_time()
# tests: library.bats of a time with two ends
s|time < c->to|time <= c->to|
