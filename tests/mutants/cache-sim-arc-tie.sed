# A page of B2 evicts one of T2 if T1 has its target length.
# in: replace()
# tests: cache_sim.bats simple simulators
s/was_in_b2 && /!was_in_b2 \&\& /
