# The file of a compression that failed stays.
# in: trace_compress()
# tests: export.bats cannot be compressed
s#		unlinkat(dir, next, 0);#		(void)next;#
