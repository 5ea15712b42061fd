# Events that are missing make a finding.
# in: proves()
# tests: findings.bats a missing write
s/!rule->needs_all/true/
