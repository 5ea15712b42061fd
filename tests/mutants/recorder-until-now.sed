# A frame says that all is read which ended before it was written.
# file: tools/recorder.c
# tests: export.bats events of CPUs that are read
s#s->until = all_read(s);#s->until = all_read(s) ? now() : 0;#
