# A compressed trace says that it is not.
# file: tools/report.c
# tests: export.bats the metadata has the limits
s#	if (s->compressed)#	if (0)#
