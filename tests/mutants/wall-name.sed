# The milliseconds of a file name have two digits.
# file: tools/wall.c
# tests: export.bats export -o --rotate: parts
s#ms % 1000)#ms % 100)#
