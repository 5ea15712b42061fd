# Of several most frequent sizes, the largest is taken.
# in: distribution_mode()
# tests: profile_trace.bats sums stay whole
s/weight > \*count/weight >= *count/
