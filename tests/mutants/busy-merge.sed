# A request that began before two periods joins only the last.
# in: busy_add()
# tests: stats.bats device time
s/d->periods\[d->nr - 1\].end >= all.begin; d->nr--)/all.end > 1 \&\& d->periods[d->nr - 1].end >= all.begin; all.end = 1, d->nr--)/
