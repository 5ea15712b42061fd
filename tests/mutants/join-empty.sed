# What only asks for a flush is taken for data.
# in: take_request()
# tests: join.bats each part
s#!b.requested \&\& #0 \&\& #
