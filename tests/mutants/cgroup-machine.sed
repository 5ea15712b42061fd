# The unit of a container is taken for the machine's.
# in: is_of_machine()
# tests: tasks_host.bats machine's goes before
s#if (!ends_with(path, end - path, ".slice"))#if (0)#
