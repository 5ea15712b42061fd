# Who has read on cannot go back to the beginning.
# file: module/proc/target_log.c
# tests: interface.py log: can be followed by reading on
s/ || pos < rd->base)$/)/
