# Dropped events are missing in the log.
# file: tools/stream.c
# tests: tool.bats log: events overwritten
s|missing > s->gaps ? missing : s->gaps|missing + s->gaps|
