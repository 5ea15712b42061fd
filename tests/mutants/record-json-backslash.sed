# A backslash in JSON is not escaped.
# file: tools/record.c
# tests: tool.bats log: JSON
s/ || text\[i\] == '\\\\')/)/
