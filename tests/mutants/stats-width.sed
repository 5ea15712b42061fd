# A long name is as wide as it is.
# in: text_shorten()
# tests: stats.bats 80 columns
s/text_width(copy) <= columns/1/
