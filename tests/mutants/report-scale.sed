# Latencies of an octave are in half of its buckets.
# in: spread_scale()
# tests: report.bats sums up
s/& 7/\& 3/
