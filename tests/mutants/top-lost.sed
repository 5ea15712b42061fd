# Losses are counted from the start in each interval.
# in: turn()
# tests: top.bats grow
s/w->basis\[i\].lost = p->stream.gaps - p->gaps;/w->basis[i].lost = 0;/
