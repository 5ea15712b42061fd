# A file of another category is read.
# in: check_stream()
# tests: export.bats another file in place
s#h->event != like->event ||#0 ||#
