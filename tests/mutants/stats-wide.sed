# Latencies of more than 32 bits count once.
# in: sort()
# tests: stats.bats more than 32 bits
s/total += d->wide\[i\].weight/total++/
