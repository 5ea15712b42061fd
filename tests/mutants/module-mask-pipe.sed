# The pipe of a category shows addresses.
# file: module/proc/category_pipe.c
# tests: hostile_access.py addresses of other processes
s/^\tif (cp->masked)$/\tif (0 \&\& cp->masked)/
