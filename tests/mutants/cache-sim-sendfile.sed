# The read that the kernel makes for sendfile(2) is counted beside the call.
# in: is_of_fs()
# tests: cache_sim.bats which calls
s/== served)/== served + 1)/
