# A merged frame says when the events of its own trace were read, not those of all.
# in: move_frame()
# tests: traces_merge.bats many frames
s|	if (last_of(lanes, t->nr))|	if (0)|
