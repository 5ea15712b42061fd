# A number that is too large for JSON is printed as a number.
# file: tools/record.c
# tests: columns.bats
s|n <= INT64_MAX|n <= UINT64_MAX|
