# A call of a process that is not the first of several is rejected at its entry.
# in: publish_filter()
# tests: category.py filters: by process
s/f->pids.nr > 1/0/
