# The milliseconds of a file name are those of the second before.
# file: tools/wall.c
# tests: export.bats export -o
s#ms % 1000)#ms % 100)#
