# A fault begins with its last attempt.
# file: module/probe/fault.c
# tests: fields.bats page faults
s/f->start = a->start;/;/
