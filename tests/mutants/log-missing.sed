# Events that are missing are not reported.
# file: tools/command_log.c
# tests: tool.bats log: 
s#	if (missing)#	if (0)#
