# A directory that the writer may not list is traced.
# file: module/proc/wide_target.c
# tests: interface.py rights: nobody traces
s/MAY_READ | MAY_EXEC/MAY_EXEC/
