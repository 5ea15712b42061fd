# ARC takes the same step, whatever the lengths of its lists of names.
# in: learn()
# tests: cache_sim.bats simple simulators
s|b1 >= b2 ? 1 : b2 / b1|1|
