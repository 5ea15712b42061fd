# A file that exists is overwritten.
# in: begin_file()
# tests: export.bats export -o
s#O_CREAT | O_EXCL#O_CREAT#
