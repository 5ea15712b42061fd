# A blank in a path is not escaped.
# file: tools/text.c
# tests: tool.bats names escaped
s|c <= ' '|c < ' '|
