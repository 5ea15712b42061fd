# A hit brings the page in anew, as with LRU.
# in: cache_fifo()
# tests: cache_sim.bats simple simulators
s/^\t\telse$/\t\tif (*its)/
