# A percentile counts each value once, however often it came.
# in: next()
# tests: stats.bats percentiles are the values
s/{ value_of(word), weight_of(word) }/{ value_of(word), 1 }/
