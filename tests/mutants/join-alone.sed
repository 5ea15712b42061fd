# Calls with bytes of others are taken as well as those without.
# in: is_choice()
# tests: join.bats backing
s#if (bytes < c->size)#if (0 * bytes > c->size)#
