# The row of others lacks the orders of one.
# in: fold_kind()
# tests: profile_trace.bats sums stay whole
s/orders\[i\].count +=/orders[i].count =/
