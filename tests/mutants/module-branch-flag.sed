# The flag ORIGINATOR is missing.
# file: module/record/branch.c
# tests: processes.bats what was made dirty
/e->flags |= IOT_REQ_ORIGINATOR;/d
