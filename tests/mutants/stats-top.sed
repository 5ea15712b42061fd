# One row too few has a row of its own.
# in: fold_rest()
# tests: stats.bats sums stay whole
s/rank_of(s, &row) < s->top/rank_of(s, \&row) + 1 < s->top/
