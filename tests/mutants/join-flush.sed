# A flush takes a sync that an earlier one has.
# file: tools/join_match.c
# tests: join.bats flushes
s#(shared || c->links == JOIN_NONE) \&\& can_have#(shared || 1) \&\& can_have#
