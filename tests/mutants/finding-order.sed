# What cost little is before what cost much.
# in: compare_findings()
# tests: findings.bats the most severe are first
s/return fall(x->tally.time, y->tally.time)/return fall(y->tally.time, x->tally.time)/
