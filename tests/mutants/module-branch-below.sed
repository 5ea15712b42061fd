# A directory has the bios of all files whose path is known.
# file: module/record/branch.c
# tests: directories.py the bios of its files
s/^\tif (is_below(b, path))$/\tif (path)/
