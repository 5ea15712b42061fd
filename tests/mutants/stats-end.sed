# A trace without an end lasts until the last event that is counted.
# in: count()
# tests: stats.bats lost, missed
/last = m.time + m.latency;/d
s/env->keys.source =/last = m.time + m.latency; env->keys.source =/
