# The FUSE lines of processes are those of a directory.
# in: print_stream()
# tests: tasks_host.bats with absolute paths
s#target \&\& !target->tasks ? target : NULL#target#
