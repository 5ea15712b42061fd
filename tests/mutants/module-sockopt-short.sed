# A 32-bit program's struct timeval is the short one.
# in: show_as()
# tests: sockopt.py 32-bit programs
s|v, v->is_32);|v, false);|
