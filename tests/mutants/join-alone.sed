# Calls with bytes of others are taken as well as those without.
# file: tools/join_match.c
# tests: join.bats backing
s|bytes < c->size)|0 * bytes > c->size)|
