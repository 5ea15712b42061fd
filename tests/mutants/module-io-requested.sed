# What was asked for is what was moved.
# file: module/record/io.h
# tests: fields.py calls and bios of a target
s/^\t\tr->requested = requested;/\t\tr->requested = result;/
