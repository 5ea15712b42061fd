# A longer header is read as records.
# file: tools/stream.c
# tests: tool.bats log: 
s#	n = skip(s->fd, h.header_size - sizeof(h));#	n = 0;#
