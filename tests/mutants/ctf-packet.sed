# A packet's size is in bytes.
# in: write_packet()
# tests: ctf.bats many packets
s/.packet_size = 8 \*/.packet_size = /
