# What was read before an error is not written.
# file: tools/recorder.c
# tests: export.bats unloading the module
s#		if (r->streams\[i\].whole)#		if (0)#
