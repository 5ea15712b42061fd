# The FUSE lines of processes are those of a directory.
# file: tools/command_log.c
# tests: tasks_host.bats with absolute paths
s#target \&\& !target->tasks ? target : NULL#target#
