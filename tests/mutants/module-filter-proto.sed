# proto=tcp takes a number that another family gives another meaning.
# in: iot_filter_kind()
# tests: sockopt.py filters by family
s/(family == AF_INET || family == AF_INET6)/(family || true)/
