# The page has no curve of MIN.
# in: simulate()
# tests: report.bats curves
s/s.policies\[policy\] = true/s.policies[policy] = policy != CACHE_MIN/
