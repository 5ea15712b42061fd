# Accepts a copy without a second look at the state.
s/return READ_ONCE(\*slot) == state ?/return true ?/
