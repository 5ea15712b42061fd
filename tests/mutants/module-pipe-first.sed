# What was gone before a pipe was opened is reported.
# in: begin()
# tests: pipe.py gone before they were read is reported: a slow
/^\t\t\tlog->position\[i\].gap = 0;/d
