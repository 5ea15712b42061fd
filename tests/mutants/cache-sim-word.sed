# The last bit of a word is not counted.
# in: count_to()
# tests: cache_sim.bats simple simulators
s/~0ULL >> (WORD - 1 - at % WORD)/~0ULL >> 1 >> (WORD - 1 - at % WORD)/
