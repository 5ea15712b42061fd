# The offset of several pages is that of the first page.
# in: run_end()
# tests: cache.py HIT and MISS of cold and warm reads
s/max(l->from, (u64)l->first << PAGE_SHIFT)/(u64)l->first << PAGE_SHIFT/
