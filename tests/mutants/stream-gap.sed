# Events that were lost between others are not counted while following.
# in: count_gap()
# tests: tool.bats of a category
s#s->gaps += head->gap;##
