# proto=tcp takes a number that another family gives another meaning.
# in: meets_proto()
# tests: export.bats export --filter: ports
s/(family == AF_INET || family == AF_INET6) &&/(family || 1) \&\&/
