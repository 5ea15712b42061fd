# The first digit of an escaped byte is that of the byte before.
# file: tools/text.c
# tests: tool.bats list
s#'0' + (byte >> 6)#'0' + (byte >> 7)#
