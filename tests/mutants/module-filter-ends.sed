# Of port= only the first end counts.
# in: iot_filter_ends()
# tests: net.py filters: by port
# tests: drop.py filters on ports
s/ && !iot_filter_port(f, one->port) \&\&$/ \&\& !iot_filter_port(f, one->port))/
s/^\t    !iot_filter_port(f, other->port))$//
