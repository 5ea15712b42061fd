# Command lines are left out of frames that become one.
# in: trace_gather_take()
# tests: export.bats small frames become one
s#	if (g->used_notes)#	if (0)#
