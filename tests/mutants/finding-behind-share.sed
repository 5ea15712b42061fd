# Any wait for another process is found, however small a part it is.
# in: behind_others()
# tests: findings.bats disks: each rule
s/finding_share(w.behind, w.wait, BEHIND)/w.behind/
