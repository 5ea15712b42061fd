# Merged traces have their paths under the same ids.
# in: trace_merge_write_paths()
# tests: traces_merge.bats the rows are those
s|		base += .*|		base += !base;|
