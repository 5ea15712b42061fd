# An escaped path is read with its escapes.
# in: text_unescape()
# tests: tool.bats list
s#(s\[1\] - '0') << 6#(s[1] - '0') << 5#
