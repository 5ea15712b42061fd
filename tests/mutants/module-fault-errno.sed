# The error of a fault is not recorded.
# file: module/probe/fault.c
# tests: fault.py of programs, private copies
s/^\te->result = result & VM_FAULT_ERROR ? .*/\te->result = 0;/
