# A column of nanoseconds does not show its unit.
# file: tools/record.c
# tests: export.bats the name of a column
# tests: columns.bats
s#{ "ns", "_ns" }#{ "ns", "" }#
