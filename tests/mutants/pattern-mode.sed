# Of several most frequent sizes, the largest is taken.
# in: distribution_mode()
# tests: profile_trace.bats worked out by hand
s/weight > \*count/weight >= *count/
