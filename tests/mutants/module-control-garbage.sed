# Garbage behind a path that exists is taken for a part of the path.
# in: why_missing()
# tests: interface.py errors: each has its errno
s/err = ret < 0 ? ret : -EINVAL;/err = ret < 0 ? ret : -ENOENT;/
