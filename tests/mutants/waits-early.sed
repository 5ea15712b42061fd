# A call does not see a request that ended with it.
# in: cmd/findings_pass.c
# tests: waits.bats belong
s/{ &category_block, &category_fs, NULL }/{ \&category_fs, \&category_block, NULL }/
