# All threads that access a file are one stream.
# in: stream_of()
# tests: profile_trace.bats a stream is
s/scalar(p->thread, record)/0/
