# Reads and writes are one stream.
# in: stream_of()
# tests: profile_trace.bats a stream is
s/ ? WRITES : READS/ ? READS : READS/
