# The checksum of the data is not checked.
# in: load()
# tests: export.bats cut at any byte
s#	    trace_checksum(to, f->stored) != f->data_checksum)#	    0)#
