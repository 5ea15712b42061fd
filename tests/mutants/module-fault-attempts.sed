# Only the last attempt counts.
# file: module/probe/fault.c
# tests: fields.py page faults
s/f->attempts = a->attempts + 1;/f->attempts = 1;/
