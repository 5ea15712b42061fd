# Of several units of one name any is taken.
# in: cgroups_unit()
# tests: tasks_host.bats of several all are named
s#several.nr > 1 \&\& !is_of_machine(found)#0#
