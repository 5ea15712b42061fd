# A filter on a path looks at the first path of an operation only.
# in: meets_paths()
# tests: category.py filters: what is below
s/^\t\t    (p->path\[1\] && iot_path_is_below/\t\t    (0 \&\& p->path[1] \&\& iot_path_is_below/
