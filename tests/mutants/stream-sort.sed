# The records of a target are not sorted by time.
# in: sort()
# tests: tool.bats log: CSV
s#	qsort_r(#	if (0) qsort_r(#
