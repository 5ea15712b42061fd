# In the log a look at what waits has moved it.
# in: moved()
# tests: process_network.py bytes are those that were moved
s/(MSG_PEEK | MSG_ERRQUEUE)/MSG_ERRQUEUE/
