# The hosts of a merged trace share their files.
# in: host_of()
# tests: cache_sim.bats in a merged trace
s/\breturn i;/return 0;/
