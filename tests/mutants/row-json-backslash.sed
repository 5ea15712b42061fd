# A backslash in JSON is not escaped.
# in: put_json()
# tests: tool.bats log: JSON
s/ || text\[i\] == '\\\\')/)/
