# An event of exactly min_size= is rejected.
# file: module/record/filter.h
# tests: category.py filters: by size and latency
s/size >= (s64)f->min_size/size > (s64)f->min_size/
