# A block that continues another does not count its events.
# file: tools/trace_gather.c
# tests: export.bats small frames become one
s#whole.count += b.count;#whole.count += 0;#
