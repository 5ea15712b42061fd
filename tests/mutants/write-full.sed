# The trace is not ended by --size.
# file: tools/trace_write.c
# tests: export.bats record: --size
s#	if (length > most)#	if (length > most \&\& 0)#
