# A directory that the writer may not enter is traced.
# in: check()
# tests: interface.py rights: nobody traces
s/MAY_READ | MAY_EXEC/MAY_READ/
