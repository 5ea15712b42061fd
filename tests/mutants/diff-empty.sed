# Intervals without events are left out of the rates.
# in: end()
# tests: diff.bats computes
s/{ w->rates, d->intervals }/{ w->rates, w->nr }/
