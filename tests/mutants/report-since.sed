# Calls that were missed before the recording are counted.
# in: json_since()
# tests: export.bats record: what is lost, calls
s#json_integer(n - before)#json_integer(n)#
