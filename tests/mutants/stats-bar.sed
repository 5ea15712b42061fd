# Bars show what rows are not sorted by.
# in: sorted_by()
# tests: stats.bats worked out by hand
s/ ? bytes : count;$/ ? count : bytes;/
