# The start of a category is that of its first target.
# in: print_category()
# tests: tool.bats status: the start
s#t0 / 1000000000, t0 % 1000000000#t0 / 1000000000, t0 % 100000000#
