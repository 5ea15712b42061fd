# The latency of a call is the time since the start of the machine.
# in: iot_io_record()
# tests: fields.py calls and bios of a target
s/r->latency = latency;/r->latency = now;/
