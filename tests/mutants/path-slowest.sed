# The fastest event of a file is followed.
# in: take_event()
# tests: path.bats by its name
s/io_event_latency(e) > /io_event_latency(e) < /
