# A call belongs to any request that can have made it.
# file: tools/join_match.c
# tests: join.bats flushes
s|^			return JOIN_NONE;$|			continue;|
