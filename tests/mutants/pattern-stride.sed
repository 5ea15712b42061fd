# The first distance of a stream is a stride.
# in: order_of()
# tests: profile_trace.bats by their rules
s/s->far && //
