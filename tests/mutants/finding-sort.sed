# The rows that cost least are first.
# in: compare_rows()
# tests: findings.bats rows have their own
s/fall(x->tally.time, y->tally.time)/fall(y->tally.time, x->tally.time)/
