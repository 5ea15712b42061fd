# The log of a process has its pipes and sockets, too.
# in: is_theirs()
# tests: processes.py beside a directory, and category fs
s/return (BIT(kind) & s->c.of.default_kinds) && /return /
