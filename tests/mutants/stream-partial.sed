# A record that a read cuts in two is dropped.
# in: read_some()
# tests: tool.bats log --follow: new
s#	s->partial = bytes % size;#	s->partial = 0;#
