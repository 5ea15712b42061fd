# A look at what waits takes nothing.
# in: moved_by()
# tests: net.py what MSG_PEEK leaves
# tests: network.py datagrams, and a stream of UNIX
s/(MSG_PEEK | MSG_ERRQUEUE)/MSG_ERRQUEUE/
