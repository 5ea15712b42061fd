# The latency of a sampled record counts once in percentiles.
# in: stats_add()
# tests: stats.bats a sampled trace
s/distribution_add(&row->latencies, m->latency, m->weight)/distribution_add(\&row->latencies, m->latency, 1)/
