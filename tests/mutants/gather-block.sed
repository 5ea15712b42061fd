# A block that continues another does not count its events.
# in: put_blocks()
# tests: export.bats small frames become one
s#whole.count += b.count;#whole.count += 0;#
