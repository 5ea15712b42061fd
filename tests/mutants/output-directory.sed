# All categories are written into one directory.
# in: make_directories()
# tests: export.bats by default a directory
# tests: export.bats export -o
s#xasprintf("%s/%s", o->directory, o->category)#xasprintf("%s/%s", o->directory, "fs")#
