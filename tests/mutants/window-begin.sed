# What ended before the window is recorded.
# in: find_inside()
# tests: export.bats left out and counted
s/while (!s->cpus\[b->cpu\].begun \&\& /while (0 \&\& /
