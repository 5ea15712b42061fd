# The address that mmap returns is shown.
# file: module/proc/mask.c
# tests: hostile_access.py addresses of other processes
s/if (mask\[RETURNED\] && address/if (0 \&\& address/
