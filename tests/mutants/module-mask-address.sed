# Everybody sees addresses of processes.
# in: iot_mask_record()
# tests: hostile_access.py addresses of other processes
s/\*(u64 \*)at(mask\[ADDRESS\], record) = 0;/*(u64 *)at(mask[ADDRESS], record) |= 0;/
