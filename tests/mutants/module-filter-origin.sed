# The originator need not meet tid=.
# in: iot_filter_origin()
# tests: originator.py filters on tree, pid, tid
s/if ((f->used & IOT_FILTER_TID) && f->tid != who->tid)/if (0 \&\& f->tid != who->tid)/
