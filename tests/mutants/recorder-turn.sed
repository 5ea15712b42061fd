# A CPU that was not served since a turn began counts as read until its end.
# in: note_turn()
# tests: export.bats events of CPUs that are read
s#s->cpus\[b->cpu\].seen = true;##
