# A period does not begin earlier than the request that joins it.
# in: busy_add()
# tests: stats.bats device time
s/last->begin < all.begin/last->end < all.begin/
