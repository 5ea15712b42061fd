# Everybody sees addresses of processes.
# file: module/proc/mask.c
# tests: hostile_access.py addresses of other processes
s/\*(u64 \*)at(mask\[ADDRESS\], record) = 0;/*(u64 *)at(mask[ADDRESS], record) |= 0;/
