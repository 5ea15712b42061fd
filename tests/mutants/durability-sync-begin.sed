# A sync covers what was acknowledged before it began.
# in: sync_one()
# tests: durability.bats each kind of sync
s/\.last > s->begin/.last > s->end/
