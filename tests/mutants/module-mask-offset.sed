# The offset of a request of io_uring is shown even if it is an address.
# in: iot_mask_record()
# tests: hostile_access.py addresses of other processes
s/if (mask\[SQEOFF\] && /if (0 \&\& /
