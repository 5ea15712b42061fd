# The trace is not ended by --size.
# in: trace_file_put()
# tests: export.bats record: --size
s#	if (length > most)#	if (length > most \&\& 0)#
