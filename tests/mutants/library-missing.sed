# The last event of each hole is not counted.
# in: count_hole()
# tests: library.bats any wrong bit
# tests: library.bats what is missing is told
s|hole->first + 1|hole->first|
