# The fault that makes a private copy has no flag COW.
# in: flags_of()
# tests: fault.py of programs, private copies
s/flags |= IOT_FAULT_COW;/flags |= 0;/
