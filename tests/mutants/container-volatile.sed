# Podman's containers that --rm removes have no name.
# in: has_podman_name()
# tests: tasks_host.bats podman has on disk
s#{ "", "volatile-" }#{ "", "" }#
