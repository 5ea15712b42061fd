# A fault whose last attempt did not wait is minor.
# in: record()
# tests: fault.py minor and major counts
s/(result & VM_FAULT_MAJOR) || (f->fault_flags & FAULT_FLAG_TRIED) ?/(result \& VM_FAULT_MAJOR) ?/
