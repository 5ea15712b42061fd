# A stream of another event is read.
# file: tools/recorder.c
# tests: export.bats record: a stream that is no
s#h->event != s->event->id ||#0 ||#
