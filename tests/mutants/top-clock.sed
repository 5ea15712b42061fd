# An interval is as long as the time of day says.
# in: top_turn()
# tests: top.bats clock that is set back
s/wall_now().monotonic - t->since/wall_now().realtime - w->begin/
