# Events that are missing are not reported.
# in: cmd/log.c
# tests: tool.bats log: 
s#	if (missing)#	if (0)#
