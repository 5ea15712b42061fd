# A clock that drifts is believed to be set.
# file: tools/wall.c
# tests: export.bats timestamps are times
s|return false;|return true;|
