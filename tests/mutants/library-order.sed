# The library merges categories backwards.
# in: first_of()
# tests: library.bats the order over categories
s|ended_at(s->event, s->head) < ended_at|ended_at(s->event, s->head) > ended_at|
