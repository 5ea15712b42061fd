# The fault that makes a private copy has no flag COW.
# file: module/probe/fault.c
# tests: fault.py of programs, private copies
s/flags |= IOT_FAULT_COW;/flags |= 0;/
