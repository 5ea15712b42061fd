# Events that were lost before the recording are written as lost in it.
# in: forget_old_gaps()
# tests: export.bats gaps are counted
s|		head.gap = 0;||
