# Events that were lost between others are not counted while following.
# in: take_blocks()
# tests: tool.bats of a category
s#b->gaps += head.gap;##
