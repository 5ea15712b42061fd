# A directory has one component more than its depth.
# in: put_directory()
# tests: stats.bats the parts of a path
s/depth < key->depth/depth <= key->depth/
