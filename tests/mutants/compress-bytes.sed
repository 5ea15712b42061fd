# The metadata has the size before compression.
# file: tools/trace_compress.c
# tests: export.bats the metadata has the limits
s#		\*bytes = f.end;#		*bytes = r.size;#
