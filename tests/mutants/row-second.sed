# The second of a time is not renewed.
# in: trace/row.c
# tests: export.bats timestamps
s#if (time / NS_PER_S != p->second)#if (0)#
