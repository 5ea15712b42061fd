# The row of others lacks the bytes of one.
# in: fold()
# tests: stats.bats sums stay whole
s/to->bytes += from->bytes/to->bytes = from->bytes/
