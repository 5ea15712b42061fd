# Small changes are reported.
# in: trace/diff.c
# tests: diff.bats the largest change first
s/ \&\& fabs(diff_change(v)) >= least//
