# The hooks of sockets stay when the last log with the network is removed.
# in: detach_all()
# tests: process_network.py without -n there is no row
s/count_list(c->also)/0/
