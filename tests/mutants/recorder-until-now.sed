# A frame says that all is read which ended before it was written.
# file: tools/recorder.c
# tests: export.bats events of many CPUs
s#s->until = all_read(s);#s->until = now();#
