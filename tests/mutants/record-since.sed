# A call that began before T0 has no sign.
# file: tools/record.c
# tests: tool.bats log: CSV
# tests: columns.bats
s#		\*out++ = '-';##
