# Reset of a target sets T0.
# in: iot_log_reset()
# tests: interface.py reset: what it empties
s/^\t\tif (new_t0)$/\t\tif (new_t0 || 1)/
