# A clock that was set is reported as not set.
# file: tools/wall.c
# tests: export.bats timestamps
s|return false;|return true;|
