# An event of exactly min_size= is rejected.
# in: iot_filter_amount()
# tests: category.py filters: by size and latency
s/size >= (s64)f->min_size/size > (s64)f->min_size/
