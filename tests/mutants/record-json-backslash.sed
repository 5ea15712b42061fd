# A backslash in JSON is not escaped.
# in: record.c
# tests: tool.bats log: JSON
s/ || text\[i\] == '\\\\')/)/
