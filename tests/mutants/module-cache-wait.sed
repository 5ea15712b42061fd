# A page whose data is not there yet is no WAIT.
# in: record_lookup()
# tests: fields.py pages that are read from disk
s/state == PENDING ? IOT_CACHE_WAIT : 0/0/
