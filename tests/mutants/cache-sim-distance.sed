# The page itself is no part of its stack distance.
# in: access_at()
# tests: cache_sim.bats simple simulators
s/count_to(m, last) + 1/count_to(m, last)/
