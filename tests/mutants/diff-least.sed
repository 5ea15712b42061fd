# Small changes are reported.
# in: trace/diff.c
# tests: diff.bats the largest change first
s/>= least/>= 0 * least/
