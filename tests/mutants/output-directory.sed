# All categories are written into one directory.
# in: make_directories()
# tests: export.bats by default a directory
# tests: export.bats export -o
s#cli_printf("%s/%s", o->directory, o->category)#cli_printf("%s/%s", o->directory, "fs")#
