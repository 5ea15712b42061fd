# A block of another event is recorded.
# file: tools/recorder.c
# tests: export.bats record: blocks that do not fit
s# \&\& b->event == s->event->id \&\&# \&\&#
