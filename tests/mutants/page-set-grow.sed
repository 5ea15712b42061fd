# Ranges are lost when the table grows.
# in: grow()
# tests: stats.bats working sets
s/if (old.ranges\[i\].pages)/if (i \& 1)/
