# A directory has the bios of all files whose path is known.
# in: record_below()
# tests: directories.py the bios of its files
s/^\tif (is_below(s, path))$/\tif (path)/
