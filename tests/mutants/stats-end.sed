# A trace without an end lasts until the last event that is counted.
# in: pass_next()
# tests: stats.bats lost, missed
/if (r->measure.time + r->measure.latency > r->last)/,/r->last =/d
s/r->source = sources_find/r->last = r->measure.time + r->measure.latency; r->source = sources_find/
