# Reset of a target sets T0.
# in: reset_locked()
# tests: interface.py reset: what it empties
s/^\tif (new_t0)$/\tif (new_t0 || 1)/
