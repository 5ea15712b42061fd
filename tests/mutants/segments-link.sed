# A symbolic link in place of a trace is one.
# file: tools/segments.c
# tests: export.bats --keep is of the name
s/= !lstat(path, &st) \&\&/= !stat(path, \&st) \&\&/
