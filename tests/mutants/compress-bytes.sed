# The metadata has the size before compression.
# in: trace_compress()
# tests: export.bats the metadata has the limits
s#		\*bytes = f.end;#		*bytes = r.size;#
