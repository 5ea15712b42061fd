# Only seq is replaced by differences.
# in: trace/transpose.c
# tests: export.bats compressed frames
s/^#define DELTAS 2/#define DELTAS 1/
