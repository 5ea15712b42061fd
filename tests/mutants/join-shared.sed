# A flush does not share a sync.
# file: tools/join_match.c
# tests: join.bats flushes
s#call = find_sync(j, r, true);#call = JOIN_NONE;#
