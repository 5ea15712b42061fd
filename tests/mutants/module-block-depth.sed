# A request does not count itself.
# file: module/probe/block.c
# tests: fields.py queued requests
s/p->e.depth = atomic_inc_return(p->depth);/p->e.depth = atomic_inc_return(p->depth) - 1;/
