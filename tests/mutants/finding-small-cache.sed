# A file that is read for the first time is taken for one that does not fit into the cache.
# in: cache_too_small()
# tests: findings.bats the page cache: each rule
s/finding_share(f->reclaimed, f->missed, HALF)/f->missed/
