# MIN keeps pages that are never accessed again.
# in: cache_min()
# tests: cache_sim.bats simple simulators
s/nr_dead && nr_live + nr_dead == pages/0/; s/nr_live == pages/nr_live \&\& nr_live + nr_dead >= pages/
