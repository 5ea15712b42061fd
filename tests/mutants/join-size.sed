# A call by size is given to a request although another one fits.
# in: match_by_size()
# tests: join.bats gone
s#only\[i\] == JOIN_NONE || fits\[only\[i\]\] != 1#only[i] == JOIN_NONE || j->calls[only[i]].links != JOIN_NONE#
