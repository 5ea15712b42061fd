# Events that were lost before the recording are written as lost in it.
# file: tools/recorder.c
# tests: export.bats gaps are counted
s|		head.gap = 0;||
