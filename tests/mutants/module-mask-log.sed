# The log of a category shows addresses.
# file: module/proc/category_log.c
# tests: hostile_access.py addresses of other processes
s/^\t\tif (rd->masked)$/\t\tif (0 \&\& rd->masked)/
