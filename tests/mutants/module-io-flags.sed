# A call has no flags.
# in: iot_io_record()
# tests: fields.py calls and bios of a target
s/^\t\tr->flags = flags;/\t\tr->flags = 0;/
