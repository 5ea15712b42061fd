# A bar is rounded up.
# in: length_of()
# tests: histogram.bats bars are
s/\* 2 + all)/* 2 + 2 * all - 1)/
