# All categories are written into one directory.
# file: tools/output.c
# tests: export.bats by default a directory
# tests: export.bats export -o
s#cli_printf("%s/%s", o->directory, o->category)#cli_printf("%s/%s", o->directory, "fs")#
