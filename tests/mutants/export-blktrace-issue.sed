# A request is with the driver from when it was made.
# in: add_begin()
# tests: export_formats.bats export blktrace: btt
s/= b->time + b->latency - b->device_latency/= b->time/
