# A call does not access the page of its last byte, if that is the first byte of it.
# in: page_accesses_add()
# tests: cache_sim.bats which calls
s/(access->offset + bytes - 1)/(access->offset + bytes - 2)/
