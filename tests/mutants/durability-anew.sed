# A page that becomes dirty while it is written back has a version in memory.
# in: end_one()
# tests: durability.bats writeback
s/if (x->versions\[i\]\.state != EXTENT_WRITEBACK)/if (!s->d)/
