# What follows a frame is not checked.
# file: tools/trace_read.c
# tests: export.bats cut at any byte
s#		if (rest\[i\])#		if (0)#
