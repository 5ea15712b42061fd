# An interval of a trace begins where the one before began.
# in: top_turn()
# tests: top.bats follow
s/t->at = w->begin + t->interval;/t->at = w->begin + t->interval \/ 2;/
