# The first process that another one waited for is named, not the one that it waited for most.
# in: finding_waits_most()
# tests: findings.bats disks: each rule
s/blame_charged(&waits->blame, owner - 1, i) > blame_charged(&waits->blame, owner - 1, most)/most == BLAME_OTHERS/
