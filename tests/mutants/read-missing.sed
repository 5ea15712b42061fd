# Frames that are missing are not reported.
# in: trace_reader_next()
# tests: export.bats what is missing, a frame
s#	if (frame->number > r->number)#	if (0)#
