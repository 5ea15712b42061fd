# A page that is accessed again is counted twice in later distances.
# in: access_at()
# tests: cache_sim.bats simple simulators
/add(m, last, -1)/d
