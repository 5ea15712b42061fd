# The latency of a call is the time since the start of the machine.
# file: module/record/io.h
# tests: fields.bats calls and bios of a target
s/r->latency = now - start;/r->latency = 2 * now - start;/
