# A call that moved nothing is an access.
# in: patterns_add()
# tests: profile_trace.bats in no share
s/m->error || !at.bytes/m->error/
