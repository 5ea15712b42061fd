# max_events may be 0.
# in: split_number()
# tests: interface.py errors: each has its errno
s/, 10, number) || !\*number)$/, 10, number))/
