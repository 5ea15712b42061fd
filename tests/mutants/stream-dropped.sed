# Events that are missing between others are counted twice.
# in: stream_missing()
# tests: tool.bats log: events 
s|missing > s->gaps ? missing : s->gaps|missing + s->gaps|
