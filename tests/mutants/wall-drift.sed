# A clock that was set is reported as not set.
# in: wall_clock_init()
# tests: export.bats timestamps
s|return false;|return true;|
