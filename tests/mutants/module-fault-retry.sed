# A fault begins with its last attempt.
# file: module/probe/fault.c
# tests: fields.py page faults
s/f->start = a->start;/;/
