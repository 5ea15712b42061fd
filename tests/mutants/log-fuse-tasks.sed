# The FUSE lines of processes are those of a directory.
# in: log_blocks()
# tests: tasks_host.bats with absolute paths
s#target \&\& !target->tasks ? target : NULL#target#
