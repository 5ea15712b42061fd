# Calls with bytes of others are taken as well as those without.
# file: tools/join_match.c
# tests: join.bats backing
s|(alone \&\& all < c->size) |(0 \&\& alone \&\& all < c->size) |
