# Processes of two names are the same target.
# file: module/record/tasks.c
# tests: processes.py what is refused
s/memcmp(a->comm, b->comm, sizeof(a->comm)))/0)/
