# A curve has the hits.
# in: missed()
# tests: cache_sim.bats each point of a curve
s/100 - 100/100/
