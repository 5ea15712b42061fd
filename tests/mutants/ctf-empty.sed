# An empty text is written as it is, which babeltrace2 2.0.4 does not read.
# in: put_field()
# tests: ctf.bats each row of CSV
s/if (end == out)/if (false)/
