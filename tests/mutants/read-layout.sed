# A file of another category is read.
# file: tools/trace_read.c
# tests: export.bats another file in place
s#h->event != like->event ||#0 ||#
