# The pipe of a category is merged by the time at which events began.
# file: module/proc/category_pipe.c
# tests: pipe.py events of several CPUs
s/return front->record\[1\] + front->record\[2\];/return front->record[1];/
