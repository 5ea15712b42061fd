# What has a request is also in the page cache.
# in: explain_parts_of()
# tests: slowest.bats by hand
s/spans_overlap(&e->requested, e->pages_begin, e->pages_end)/0/
