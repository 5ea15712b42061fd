# Data in new blocks is lost with the metadata that leads to them.
# in: settle()
# tests: durability.bats writeback
s/|| !extents_has(&s->f->synced, x->begin, x->end)/|| !s->f/
