# A path that a read cuts in two is dropped.
# in: take_paths()
# tests: tool.bats log of a category
s#	memmove(b->text, b->text + at, b->text_left);#	b->text_left = 0;#
