# The stream of a category shows addresses.
# in: copy_changed()
# tests: hostile_access.py addresses of other processes
s/^\t\tif (rd->masked)$/\t\tif (0 \&\& rd->masked)/
