# Events of a category are sorted by their begin.
# in: end_of()
# tests: tool.bats log of a category
s#record_time(event, record) + record_latency(event, record)#record_time(event, record)#
