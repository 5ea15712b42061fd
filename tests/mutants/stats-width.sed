# A long name is as wide as it is.
# in: put_label()
# tests: stats.bats 80 columns
s/width <= WIDTH/1/
