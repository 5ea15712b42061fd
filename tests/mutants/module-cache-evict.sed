# A page that goes with its inode is INVALIDATE.
# in: why_removed()
# tests: cache.py a page that is removed has its reason
s/mapping_exiting(mapping) ? IOT_CACHE_EVICT/0 ? IOT_CACHE_EVICT/
