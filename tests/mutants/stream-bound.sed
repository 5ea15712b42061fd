# More events are missing than there were.
# in: stream_missing()
# tests: tool.bats log: 
s#	if (s->started \&\& missing >#	if (0 \&\& missing >#
