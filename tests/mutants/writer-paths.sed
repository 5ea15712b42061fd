# The last path is not counted.
# in: count_paths()
# tests: export.bats paths that were forgotten
# tests: export.bats record: metadata
# tests: export.bats cut at any byte
s|p.id, p.id + 1)|p.id, p.id)|
