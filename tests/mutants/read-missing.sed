# Frames that are missing are not reported.
# file: tools/trace_read.c
# tests: export.bats what is missing, a frame
s#	if (frame->number > r->number)#	if (0)#
