# What was lost before the watch is said.
# in: say_lost()
# tests: watch.bats lost or missed
s/if (!w->begun/if (0 \&\& !w->begun/
