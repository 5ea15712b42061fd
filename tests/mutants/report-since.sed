# Calls that were missed before the recording are counted.
# file: tools/report.c
# tests: export.bats record: what is lost, calls
s#json_integer(n - before)#json_integer(n)#
