# A process is found to wait for itself.
# in: finding_waits_most()
# tests: findings.bats disks: each rule
s/i != owner - 1 && //
