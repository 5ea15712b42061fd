# Blanks in a path are left.
# file: tools/text.c
# tests: tool.bats names escaped
s|c <= ' '|c < ' '|
