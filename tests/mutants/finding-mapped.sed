# Pages around a fault count as not used.
# in: readahead_wasted()
# tests: findings.bats the page cache
s/!f->mapped \&\& //
