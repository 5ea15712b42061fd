# Events that are missing before the window count as lost in it.
# file: tools/recorder.c
# tests: export.bats left out and counted
s/		b->gap = 0;/		;/
