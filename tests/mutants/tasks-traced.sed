# remove looks for units among those that run.
# file: tools/tasks.c
# tests: tasks_host.bats among what is traced
s#if (!traced)#if (1)#
