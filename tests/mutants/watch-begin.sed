# What happened before the watch is shown, too.
# in: cmd/watch.c
# tests: watch.bats only what happens from now on
s/ >= w->begin \&\&/ >= 1 \&\&/
