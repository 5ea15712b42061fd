# A leap day is the first of March.
# file: tools/put.c
# tests: snapshot.bats fs: each column
s#year / 4 - year / 100#year / 4#
