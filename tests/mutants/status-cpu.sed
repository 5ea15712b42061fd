# A directory's size is shown as that of a file.
# file: tools/command_status.c
# tests: directory.bats status, list
s#" a CPU"#""#
