# A call has no flags.
# file: module/record/io.h
# tests: fields.py calls and bios of a target
s/^\t\tr->flags = flags;/\t\tr->flags = 0;/
