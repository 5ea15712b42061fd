# Reset of a target sets T0.
# file: module/proc/target.c
# tests: interface.py reset: what it empties
s/^\tif (new_t0)$/\tif (new_t0 || 1)/
