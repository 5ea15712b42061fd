# A file of two hosts is one.
# in: stream_of()
# tests: profile_trace.bats two hosts
s/.source = source/.source = 0 * source/
