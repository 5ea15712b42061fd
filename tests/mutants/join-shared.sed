# A flush does not share a sync.
# in: match_flush()
# tests: join.bats flushes
s#call = find_sync(j, r, true);#call = JOIN_NONE;#
