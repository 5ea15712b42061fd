# A blank in a path is not escaped.
# in: text_escape()
# tests: tool.bats names escaped
s|c <= ' '|c < ' '|
