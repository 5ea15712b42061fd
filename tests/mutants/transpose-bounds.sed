# A head may say that a block has more records than are there.
# file: tools/trace_transpose.c
# tests: export.bats compressed frames
s/ || count > (size - at - head) \/ record)/)/
