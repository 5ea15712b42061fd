# The pipe of a category shows addresses.
# in: look_at()
# tests: hostile_access.py addresses of other processes
s/^\tif (cp->masked)$/\tif (0 \&\& cp->masked)/
