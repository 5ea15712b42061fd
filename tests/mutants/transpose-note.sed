# A note may be longer than what is left.
# file: tools/trace_transpose.c
# tests: export.bats compressed frames
s/ || head > size - at / /
