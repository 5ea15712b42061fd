# A page whose data is not there yet is no WAIT.
# file: module/probe/cache.c
# tests: fields.py pages that are read from disk
s/state == PENDING ? IOT_CACHE_WAIT : 0/0/
