# remove --all leaves processes.
# in: remove_target()
# tests: tasks_host.bats remove --all
s#target->tasks ? remove_text(fd, target->tasks) : 0#0#
