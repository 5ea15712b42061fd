# A directory's size is shown as that of a file.
# in: print_text()
# tests: directory.bats status, list
s#" a CPU"#""#
