# Rates are over the whole trace, whatever is selected.
# in: pass_times()
# tests: stats.bats rates are of that time
s/\*end = p->selection.end/*end = *end/
