# Merged traces have their paths under the same ids.
# file: tools/timeline_paths.c
# tests: traces_merge.bats the rows are those
s|		base += .*|		base += !base;|
