# A file that is opened again loses what it had.
# in: open_file()
# tests: fleet.bats more days
s/O_APPEND/O_TRUNC/
