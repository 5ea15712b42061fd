# A compressed trace says that it is not.
# in: write_end()
# tests: export.bats the metadata has the limits
s#	if (s->compressed)#	if (0)#
