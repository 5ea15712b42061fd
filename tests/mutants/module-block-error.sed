# A request that fails has moved what was done before.
# file: module/probe/block.c
# tests: block.py a request that a disk fails
s/p->error ?: (s64)p->done, now);/(s64)p->done, now);/
