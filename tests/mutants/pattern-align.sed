# An access is aligned if its beginning is.
# in: count()
# tests: profile_trace.bats second program
s/(a->start | a->bytes)/a->start/
