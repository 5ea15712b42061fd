# A clock that was set back is not reported.
# in: wall_clock_init()
# tests: export.bats timestamps: if
s# || -grown > span \* DRIFT_MAX + JITTER_NS##
