# The log of a category is merged by the time at which events began.
# in: end_time()
# tests: category.py log: events of several CPUs
s/return front->record\[1\] + front->record\[2\];/return front->record[1];/
