# A stat makes an fsync have something to do.
# in: io_op_only_looks()
# tests: findings.bats fsync: each rule
/case IOT_FS_GETATTR:/d
