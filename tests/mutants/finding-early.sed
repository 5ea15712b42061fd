# Requests of which the beginning is not known have times.
# in: add_to_disk()
# tests: findings.bats disks: each rule
/b->flags & IOT_REQ_EARLY/,/return/d
