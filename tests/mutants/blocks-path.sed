# A path that a read cuts in two is dropped.
# file: tools/blocks.c
# tests: tool.bats log of a category
s#	memmove(b->text, b->text + at, b->text_left);#	b->text_left = 0;#
