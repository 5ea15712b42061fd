# A directory that the writer may not list is traced.
# in: check()
# tests: interface.py rights: nobody traces
s/MAY_READ | MAY_EXEC/MAY_EXEC/
