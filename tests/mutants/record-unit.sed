# A column of nanoseconds does not show its unit.
# in: unit_suffix()
# tests: export.bats the name of a column
# tests: columns.bats
s#{ "ns", "_ns" }#{ "ns", "" }#
