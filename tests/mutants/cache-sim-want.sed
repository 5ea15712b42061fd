# The cache for a wanted hit ratio is a page too large.
# in: find_wanted()
# tests: cache_sim.bats wanted
s/cache_sim_bytes(s, low)/cache_sim_bytes(s, low + 1)/
