# remove looks for units among those that run.
# in: load_groups()
# tests: tasks_host.bats among what is traced
s#if (!traced)#if (1)#
