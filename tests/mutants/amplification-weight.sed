# A record of a sampled trace is one event.
# in: amplification_add()
# tests: stats.bats amplification
s/m->weight \* m->bytes/m->bytes/
