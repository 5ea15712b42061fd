# What ended before the window is recorded.
# file: tools/recorder.c
# tests: export.bats left out and counted
s/while (!s->cpus\[b->cpu\].begun \&\& /while (0 \&\& /
