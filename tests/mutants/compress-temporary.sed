# The file of a compression that failed stays.
# file: tools/trace_compress.c
# tests: export.bats cannot be compressed
s#		unlinkat(dir, next, 0);#		(void)next;#
