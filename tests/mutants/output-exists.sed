# A file that exists is overwritten.
# file: tools/output.c
# tests: export.bats export -o
s#O_CREAT | O_EXCL#O_CREAT#
