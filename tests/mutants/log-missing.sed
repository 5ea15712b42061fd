# Events that are missing are not reported.
# in: report_missing()
# tests: tool.bats log: 
s#	if (missing)#	if (0)#
