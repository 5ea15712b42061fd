# A frame says that all is read which one CPU has delivered.
# in: all_read()
# tests: export.bats events of CPUs that are read
s#s->cpus\[i\].read < until#until == ~0ULL || s->cpus[i].read > until#
