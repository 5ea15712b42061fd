# A record that a read cuts in two is dropped.
# file: tools/stream.c
# tests: tool.bats log --follow: new
s#	s->partial = bytes % size;#	s->partial = 0;#
