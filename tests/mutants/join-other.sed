# A call belongs to any request that can have made it.
# in: only_request()
# tests: join.bats flushes
s|^			return JOIN_NONE;$|			continue;|
