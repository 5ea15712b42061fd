# A clock that was set back is not reported.
# file: tools/wall.c
# tests: export.bats timestamps: if
s# || -grown > span \* DRIFT_MAX + JITTER_NS##
