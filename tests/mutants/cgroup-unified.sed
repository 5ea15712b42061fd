# Control groups are looked for on another mount than that of cgroup2.
# in: is_unified()
# tests: tasks_host.bats by its name, with or without
s#return !strcmp(m->type, "cgroup2");#return !strcmp(m->type, "cgroup");#
