# min_latency= is in microseconds.
# in: iot_filter_amount()
# tests: category.py filters: by size and latency
s/latency < f->min_latency)/latency < 1000 * f->min_latency)/
