# Of two offsets that fit as well the first is taken.
# file: tools/join_clock.c
# tests: join.bats guessed
s|a->peak.votes > a->peak.second|1|
