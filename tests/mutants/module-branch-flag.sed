# The flag ORIGINATOR is missing.
# file: module/record/branch.c
# tests: processes.py what was made dirty
/e->flags |= IOT_REQ_ORIGINATOR;/d
