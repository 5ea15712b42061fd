# What was read before an error is not written.
# in: recorder_rescue()
# tests: export.bats unloading the module
s#		if (r->streams\[i\].whole)#		if (0)#
