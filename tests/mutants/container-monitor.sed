# The monitor of a container is taken for the container.
# in: id_of()
# tests: tasks_host.bats first digits, in each layout
s#memcmp(id - before, monitor, before)#0#; s#&& !0)#\&\& 0)#
