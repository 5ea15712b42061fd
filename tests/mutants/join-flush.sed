# A flush takes a sync that an earlier one has.
# file: tools/join_match.c
# tests: join.bats flushes
s|c->kind != CALL_SYNC \|\| c->links != JOIN_NONE \|\| |c->kind != CALL_SYNC \|\| |
