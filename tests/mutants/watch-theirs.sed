# A target that was there before is removed in the end.
# in: watch_target_open()
# tests: watch_real.bats what is traced already stays
s/		take(t, target, file);/		take(t, target, file); added = t; atexit(remove_added);/
