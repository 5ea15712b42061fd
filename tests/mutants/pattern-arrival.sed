# Requests that began at once come in any order.
# in: is_earlier()
# tests: profile_trace.bats in which they began
s/x->arrival < y->arrival/x->arrival > y->arrival/
