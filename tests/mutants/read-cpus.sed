# A file of more CPUs than there can be is read.
# file: tools/trace_read.c
# tests: export.bats another file in place
s#				   h->cpus > like->cpus))#				   0))#
