# The first fsync of a file has nothing to do.
# in: add_sync()
# tests: findings.bats fsync: each rule
s/f->synced \&\& //
