# Events that are missing before the window count as lost in it.
# in: cut_block()
# tests: export.bats left out and counted
s/		b->gap = 0;/		;/
