# An asynchronous call ends when it returns.
# in: find_ends()
# tests: join.bats asynchronous
s|				c->end = j->below\[k\].end;|				c->end = c->returned;|
