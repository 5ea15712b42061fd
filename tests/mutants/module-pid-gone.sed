# A process that has exited is not known as who made a page dirty.
# in: had_number()
# tests: processes.py what was made dirty
s/return !now || now == process;/return now == process;/
