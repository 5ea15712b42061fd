# That processes have ended is not shown.
# in: parse_line()
# tests: tasks_host.bats they have ended
s#target->ended = true#target->ended = false#
