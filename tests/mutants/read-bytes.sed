# A file that is longer than recorded is whole.
# file: tools/trace_read.c
# tests: export.bats garbage after
s#	if (r->size != bytes)#	if (0)#; s#r->frames == frames \&\& r->size == bytes#r->frames == frames#
