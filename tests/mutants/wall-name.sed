# The milliseconds of a file name have two digits.
# in: wall_name()
# tests: export.bats export -o --rotate: parts
s#ms % 1000)#ms % 100)#
