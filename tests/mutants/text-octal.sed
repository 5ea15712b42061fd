# The first digit of an escaped byte is that of the byte before.
# in: octal()
# tests: tool.bats list
s#'0' + (byte >> 6)#'0' + (byte >> 7)#
