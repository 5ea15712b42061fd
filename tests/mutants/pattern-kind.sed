# Reads and writes are one stream.
# in: stream_of()
# tests: profile_trace.bats a stream is
s/.kind = kind,/.kind = 0 * kind,/
