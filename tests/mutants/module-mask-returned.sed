# The address that mmap returns is shown.
# in: iot_mask_record()
# tests: hostile_access.py addresses of other processes
s/if (mask\[RETURNED\] && address/if (0 \&\& address/
