# The one to give up first is not at the root.
# in: explain_offer()
# tests: slowest.bats sorting
s/by_latency(&new, &x->at\[0\]) < 0/x->nr/
