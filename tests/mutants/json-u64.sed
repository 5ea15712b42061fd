# A number that JSON cannot hold is printed as one.
# file: tools/record.c
# tests: columns.bats
s|n <= INT64_MAX|n <= UINT64_MAX|
