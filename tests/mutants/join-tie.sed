# Of two offsets that fit as well the first is taken.
# in: is_good()
# tests: join.bats guessed
s|a->peak.votes > a->peak.second|1|
