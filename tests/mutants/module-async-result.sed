# A request that fails has moved what was asked for.
# file: module/probe/vfs_async.c
# tests: completions.bats results
s/^\tr->result = result;/\tr->result = a->requested;/
