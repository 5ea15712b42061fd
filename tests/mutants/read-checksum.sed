# The checksum of the data is not checked.
# file: tools/trace_read.c
# tests: export.bats cut at any byte
s#	    trace_checksum(to, f->stored) != f->data_checksum)#	    0)#
