# A clock that was set is reported as not set.
# file: tools/wall.c
# tests: export.bats timestamps are times
s|return false;|return true;|
