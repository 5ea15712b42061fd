# A relative path of a filter goes to the module as it is.
# in: path_from_root()
# tests: record.bats a filter on a path
s/^\tif (\*path == '\/' || !\*path)$/\tif (1)/
