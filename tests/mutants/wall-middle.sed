# The clocks are taken to be read at once.
# file: tools/wall.c
# tests: export.bats timestamps are times
s|before + (after - before) / 2|before + (after - before)|
