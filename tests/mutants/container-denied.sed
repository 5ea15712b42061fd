# That names of containers may not be read is not said.
# in: load()
# tests: tasks_host.bats may not be read
s#s->denied = true#s->denied = false#
