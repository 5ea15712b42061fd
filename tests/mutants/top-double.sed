# The sample is doubled also where the records are not what costs.
# in: top_limit_sample()
# tests: top.bats in twice or half
s/ && rate > TOP_LIMIT_RATE//
