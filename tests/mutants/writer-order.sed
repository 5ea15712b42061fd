# The frames of a file are written in any order.
# file: tools/writer.c
# tests: export.bats cut at any byte
s#	\*w->last = chunk;#	chunk->next = w->first; w->first = chunk;#; s#	w->last = \&chunk->next;##
