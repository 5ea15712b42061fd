# A process that has exited is not known as who made a page dirty.
# file: module/record/tasks.c
# tests: processes.py what was made dirty
s/return !now || now == process;/return now == process;/
