# io_uring tries without waiting, and calls again: the first try is no event.
# in: record()
# tests: net.py no record of its tries
s/IOT_NET_URING) \&\& result == -EAGAIN/IOT_NET_URING) \&\& result == -EBADF/
