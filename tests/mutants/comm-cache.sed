# A cached name is shown for another name with the same place in the cache.
# in: put_comm()
# tests: export.bats each of many names
s/ || comm->key\[0\] != key\[0\] || comm->key\[1\] != key\[1\])/)/
