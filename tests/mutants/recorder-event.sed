# A stream of another event is read.
# in: check_header()
# tests: export.bats record: a stream that is no
s#h->event != s->event->id ||#0 ||#
