# Command lines are left out of frames that become one.
# file: tools/trace_gather.c
# tests: export.bats small frames become one
s#	if (g->used_notes)#	if (0)#
