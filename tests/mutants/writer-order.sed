# Of several frames that wait, the newest is written first.
# in: writer_put()
# tests: export.bats events of CPUs that are read
s#	\*w->last = chunk;#	chunk->next = w->first; w->first = chunk;#; s#	w->last = \&chunk->next;##
