# The range of a CPU has its last block only.
# in: extend()
# tests: export.bats cut at any byte
s#	if (!range->any)#	if (1)#
