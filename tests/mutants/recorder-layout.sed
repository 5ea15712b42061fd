# A stream of another layout is read.
# in: check_header()
# tests: export.bats record: a stream that is no
s#h->layout != layout ||#(0 \&\& h->layout != layout) ||#
