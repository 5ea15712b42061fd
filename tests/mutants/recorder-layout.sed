# A stream of another layout is read.
# file: tools/recorder.c
# tests: export.bats record: a stream that is no
s#h->layout != layout ||#(0 \&\& h->layout != layout) ||#
