# Pages above the new threshold are kept.
# in: thin_out()
# tests: cache_sim.bats memory is short
s/if (is_kept(a, key))/if (key | 1)/
