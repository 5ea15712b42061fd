# A datagram goes to the address that its message names.
# in: find_named()
# tests: net.py UDP: connected and not
s/return sock->type != SOCK_STREAM/return sock->type != SOCK_STREAM \&\& !sock->sk->sk_dport/
