# What a process waits for itself counts as the wait of others.
# in: others()
# tests: findings.bats disks: each rule
s/all->time - own->time/all->time/
