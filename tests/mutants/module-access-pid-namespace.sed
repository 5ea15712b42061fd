# A member of the group may be in a container.
# in: is_named()
# tests: hostile_access.py the group that root named
s/task_active_pid_ns(current) != &init_pid_ns/0/
