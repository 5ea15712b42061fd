# A receive is decided when it begins, by the peer of its socket.
# in: is_remote_known()
# tests: net.py filters: by port
s/!((const struct msghdr \*)args\[1\])->msg_name ||/true ||/
