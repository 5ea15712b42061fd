# Pages of a file that have the same lower 32 bits are one.
# in: page_place_find()
# tests: cache_sim.bats which calls
s/upper = at->index >> LOWER_BITS/upper = 0/
