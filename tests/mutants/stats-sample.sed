# The bytes of a sampled record count once.
# in: stats_add()
# tests: stats.bats a sampled trace
s/m->weight \* m->bytes/m->bytes/
