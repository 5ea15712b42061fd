# Events that are missing between others are counted twice.
# file: tools/stream.c
# tests: tool.bats log: events 
s|missing > s->gaps ? missing : s->gaps|missing + s->gaps|
