# What was lost explains nothing.
# in: verdict()
# tests: receipt.bats lost or missed
s/bool lossy = t->part->lost || t->part->missed/bool lossy = (t->part->lost \&\& !t->part->lost)/
