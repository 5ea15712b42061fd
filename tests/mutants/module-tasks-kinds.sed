# The log of a process has its pipes and sockets, too.
# file: module/record/branch.c
# tests: processes.py beside a directory, and category fs
s/return (BIT(kind) & b->c.of.default_kinds) && /return /
