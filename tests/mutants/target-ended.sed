# That processes have ended is not shown.
# file: tools/target.c
# tests: tasks_host.bats they have ended
s#target->ended = true#target->ended = false#
