# A piece of a larger request is taken for one of its calls.
# file: tools/join_match.c
# tests: join.bats same sector
s#choice = 0; choice < CHOICES#choice = CHOICE_ALONE; choice < CHOICES#
