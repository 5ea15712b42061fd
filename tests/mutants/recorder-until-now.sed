# A frame says that all is read which ended before it was written.
# in: flush()
# tests: export.bats events of CPUs that are read
s#s->until = all_read(s);#s->until = all_read(s) ? now() : 0;#
