# Intervals begin when the epoch did.
# in: interval_of()
# tests: histogram.bats heat has each
s/time -= h->origin;/;/
