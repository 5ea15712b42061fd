# A record that a read cuts in two is dropped.
# file: tools/stream.c
# tests: tool.bats log: 
s#	s->partial = bytes % size;#	s->partial = 0;#
