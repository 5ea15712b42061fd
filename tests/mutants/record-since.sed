# A call that began before T0 has no sign.
# in: put_since()
# tests: tool.bats log: CSV
# tests: columns.bats
s#		\*out++ = '-';##
