# A request that fails has moved what was done before.
# in: request_completed()
# tests: block.py a request that a disk fails
s/p->error ?: (s64)p->done, now);/(s64)p->done, now);/
