# Who has read on cannot go back to the beginning.
# in: update_snapshot()
# tests: interface.py log: can be followed by reading on
s/ || pos < rd->pos)$/)/
