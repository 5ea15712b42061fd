# A piece of a larger request is taken for one of its calls.
# in: match_data()
# tests: join.bats same sector
s#choice = 0; choice < CHOICES#choice = CHOICE_ALONE; choice < CHOICES#
