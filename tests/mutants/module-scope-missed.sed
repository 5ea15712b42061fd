# An event whose path is not known is not counted as missed.
# in: concerns()
# tests: directories.py so deep that there is no path
/^static bool concerns(/,/^}/s/atomic_long_inc(&s->missed);/atomic_long_add(0, \&s->missed);/
