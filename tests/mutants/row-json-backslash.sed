# A backslash in JSON is not escaped.
# in: trace/row.c
# tests: tool.bats log: JSON
s/ || text\[i\] == '\\\\')/)/
