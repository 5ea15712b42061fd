# A unit whose name systemd has escaped is not found.
# file: tools/cgroup.c
# tests: tasks_host.bats by its name, with or without
s#name + (\*name == '_')#name#
