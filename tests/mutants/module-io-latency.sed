# The latency of a call is the time since the start of the machine.
# file: module/record/io.h
# tests: fields.py calls and bios of a target
s/r->latency = latency;/r->latency = now;/
