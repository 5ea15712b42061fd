# Sends that share a notification have the numbers of a range.
# in: record()
# tests: net_ways.py MSG_ZEROCOPY: each number
s/zerocopy_last = uarg->id + uarg->len - 1/zerocopy_last = uarg->id/
