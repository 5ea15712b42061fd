# --sync leaves the lines in memory.
# file: tools/command_log.c
# tests: directory.bats --sync
s#rows->sync ? cli_sync() :#rows->sync ? true :#
