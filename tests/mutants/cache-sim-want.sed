# The cache for a wanted hit ratio is a page too large.
# in: find_wanted()
# tests: cache_sim.bats wanted
s/high = middle;/high = middle == low ? low : middle + (middle + 1 < high);/
