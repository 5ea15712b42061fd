# A path that a read cuts in two is dropped.
# in: take_paths()
# tests: tool.bats log of a category
s#^	use(f, at);#	f->left = 0;#
