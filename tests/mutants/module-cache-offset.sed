# The offset of several pages is that of the first page.
# file: module/probe/cache.c
# tests: cache.py HIT and MISS of cold and warm reads
s/max(l->from, (u64)l->first << PAGE_SHIFT)/(u64)l->first << PAGE_SHIFT/
