# Only accesses before one are in its window.
# in: continues()
# tests: profile.bats
s#by_end\[low\].position <= i + window#by_end[low].position <= i#
