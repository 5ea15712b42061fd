# An asynchronous call ends when it returns.
# file: tools/join_load.c
# tests: join.bats asynchronous
s|				c->end = j->below\[k\].end;|				c->end = c->returned;|
