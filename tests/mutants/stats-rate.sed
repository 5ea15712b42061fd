# Rates are over the whole trace, whatever is selected.
# in: set_times()
# tests: stats.bats rates are of that time
s/r->end = env->selection.end/r->end = r->end/
