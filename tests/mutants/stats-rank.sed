# A percentile is the value before it.
# in: distribution_percentiles()
# tests: stats.bats percentiles are the values
s/+ WHOLE - 1) \/ WHOLE/) \/ WHOLE/
