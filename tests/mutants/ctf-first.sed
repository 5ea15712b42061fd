# The first packet tells of what is missing before it.
# in: ctf_begin_category()
# tests: ctf.bats missing events
s/c->fd >= 0 \&\& write_packet(c)/c->fd >= 0/
