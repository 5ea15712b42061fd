# Only accesses before one are in its window.
# file: tools/profile.c
# tests: profile.bats
s#by_end\[low\].position <= i + window#by_end[low].position <= i#
