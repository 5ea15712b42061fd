# The log and the pipe of a category show addresses.
# in: iot_merge_look()
# tests: hostile_access.py addresses of other processes
s/^\tif (m->masked)$/\tif (0 \&\& m->masked)/
