# The merge of sorted runs compares with one of two runs only.
# in: sift_down()
# tests: export_formats.bats do not fit in memory
s/if (child + 1 < s->nr_heap \&\&/if (!s \&\&/
