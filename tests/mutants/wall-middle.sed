# A time is half of what the clocks took to be read away.
# file: tools/wall.c
# tests: export.bats timestamps
s#before + (after - before) / 2#before#
