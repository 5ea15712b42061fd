# A path of any length is accepted from the module.
# file: tools/recorder.c
# tests: export.bats record: blocks that do not fit
s#		if (p.length > PATH_BYTES)#		if (0)#
