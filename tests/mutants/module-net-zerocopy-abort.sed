# A send that has failed gives its number back.
# in: wants()
# tests: net_ways.py MSG_ZEROCOPY: a send that fails has no number
s/drop_if_any(&numbered, current)/drop_if_any(\&numbered, site)/
