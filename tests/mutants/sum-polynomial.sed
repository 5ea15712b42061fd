# The checksum by tables is another one than by the instruction.
# in: trace/sum.c
# tests: export.bats cut at any byte
s#POLYNOMIAL 0x82f63b78#POLYNOMIAL 0x82f63b79#
