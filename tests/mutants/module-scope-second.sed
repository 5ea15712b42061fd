# A rename out of a directory is not in its log.
# in: concerns()
# tests: directories.py moved in, moved out
s/is_below(s, p->path\[0\]) || is_below(s, p->path\[1\])/is_below(s, p->path[1])/
