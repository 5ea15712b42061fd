# A symbolic link in place of a trace is one.
# in: is_ours()
# tests: export.bats --keep is of the name
s/= !lstat(path, &st) \&\&/= !stat(path, \&st) \&\&/
