# The unit of a container is taken for the machine's.
# file: tools/cgroup.c
# tests: tasks_host.bats machine's goes before
s#if (!ends_with(path, end - path, ".slice"))#if (0)#
