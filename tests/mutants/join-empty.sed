# What only asks for a flush is taken for data.
# file: tools/join_load.c
# tests: join.bats each part
s#!b.requested \&\& #0 \&\& #
