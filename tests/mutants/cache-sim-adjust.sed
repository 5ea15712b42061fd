# Accesses that the sample lacks are misses.
# in: ratio()
# tests: cache_sim.bats a sample has
s/ + (expected - of_hits(kept, of))/ + 0 * of_hits(kept, of)/
