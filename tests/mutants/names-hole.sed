# Paths that are missing in a damaged file are not reported.
# in: tell_hole()
# tests: export.bats what is missing, paths
s#	if (id <= next)#	if (1)#
