# --sync leaves the lines in memory.
# in: print_row()
# tests: directory.bats --sync
s#rows->sync ? cli_sync() :#rows->sync ? true :#
