# remove --all leaves processes.
# file: tools/command_remove.c
# tests: tasks_host.bats remove --all
s#target->tasks ? remove_text(fd, target->tasks) : 0#0#
