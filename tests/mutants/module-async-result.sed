# A request that fails has moved what was asked for.
# in: record()
# tests: completions.py results
s/^\tr->result = iot_event_result(result);/\tr->result = a->requested;/
