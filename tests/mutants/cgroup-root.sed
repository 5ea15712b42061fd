# A mount that shows a part of the hierarchy is taken for all of it.
# in: path_below()
# tests: tasks_host.bats shows a part
s#strcmp(m->root, "/") ? m->root#*m->root ? ""#
