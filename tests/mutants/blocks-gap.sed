# Events that were lost between others are not counted while following.
# file: tools/blocks.c
# tests: tool.bats of a category
s#b->gaps += head.gap;##
