# A request does not count itself.
# in: request_issued()
# tests: fields.py queued requests
s/p->e.depth = atomic_inc_return(p->depth);/p->e.depth = atomic_inc_return(p->depth) - 1;/
