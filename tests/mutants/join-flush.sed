# A flush takes a sync that an earlier one has.
# in: find_sync()
# tests: join.bats flushes
s#(shared || c->links == JOIN_NONE) \&\& can_have#(shared || 1) \&\& can_have#
