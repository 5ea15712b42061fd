# A query for a time that ends is one for the time before its last nanosecond.
# in: narrow_time()
# tests: sql.bats whoever checks
s/c->most + 1;/c->most;/
