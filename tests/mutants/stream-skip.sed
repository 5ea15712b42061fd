# A longer header is read as records.
# in: read_header()
# tests: tool.bats log: 
s#skip(s->fd, h.header_size - sizeof(h));#skip(s->fd, 0);#
