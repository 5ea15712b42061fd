# Podman's containers that --rm removes have no name.
# file: tools/container.c
# tests: tasks_host.bats podman has on disk
s#{ "", "volatile-" }#{ "", "" }#
