# A notification says whether the kernel has copied data after all.
# in: record()
# tests: net_ways.py MSG_ZEROCOPY: each number
s/uarg->zerocopy ? 0 : IOT_NET_COPIED/0/
