# A frame says that all is read which one CPU has delivered.
# file: tools/recorder.c
# tests: export.bats events of many CPUs
s#s->cpus\[i\].read < until#~s->cpus[i].read < until#
