# The offset of a READV of io_uring is taken for an address.
# in: has_position()
# tests: hostile_access.py addresses of other processes
/^\tcase IORING_OP_READV:$/d
