# All threads that access a file are one stream.
# in: stream_of()
# tests: profile_trace.bats a stream is
s/.thread = at->thread/.thread = 0 * at->thread/
