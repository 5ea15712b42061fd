# The page allows no script.
# in: put_hashes()
# tests: report.bats browser.*reason
s/i < NR_SCRIPTS/i + 1 < NR_SCRIPTS/
