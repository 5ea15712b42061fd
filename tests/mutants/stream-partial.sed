# A block that a read cuts in two is dropped.
# in: take_blocks()
# tests: tool.bats log: 50,000
s#^	use(f, at);#	f->left = 0;#
