# A unit whose name systemd has escaped is not found.
# in: is_unit()
# tests: tasks_host.bats by its name, with or without
s#name + (\*name == '_')#name#
