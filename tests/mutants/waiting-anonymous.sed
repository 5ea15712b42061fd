# The name of a thread is kept in an anonymous trace.
# in: value_of()
# tests: waiting_calls.bats hashed as those of records
s/a \&\& !shown/0 \&\& !shown/
