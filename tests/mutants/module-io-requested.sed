# What was asked for is what was moved.
# in: iot_io_record()
# tests: fields.py calls and bios of a target
s/^\t\tr->requested = requested;/\t\tr->requested = result;/
