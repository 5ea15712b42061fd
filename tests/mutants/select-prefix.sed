# path= is met by a path that only begins with the same letters.
# in: is_path_wanted()
# tests: export.bats export --filter: each key
s/(!path\[length\] || path\[length\] == '\/' || length == 1)/1/
