# The originator need not meet tid=.
# in: iot_filter_origin()
# tests: originator.py filters on tree, pid, tid
s/if ((f->used & IOT_FILTER_TID) && !iot_numbers_have(&f->tids, who->tid))/if (0)/
