#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Attacks with mounts and paths: a process mounts something over a file of the kernel, looks
# up names that do not exist, or renames directories all the time. Each test runs functions
# of hostile_paths.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk 256M
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/disk
}

# check FUNCTION...
check() {
	run_functions hostile_paths.py "$@"
}

@test "mounts: start does not read a FIFO or FUSE file that is mounted over mountinfo" {
	check fifo_for_mountinfo fuse_for_mountinfo
}

@test "mounts: paths are right after a mount is made or moved while a category runs" {
	check mounted_later moved_mount
}

@test "mounts: after start and stop no mount is held and no memory is left" {
	# the kernel keeps some memory after the first time
	check started_and_stopped
	unload_module
	remember_slabs
	check started_and_stopped started_and_stopped
	unload_module
	back_to_slabs 100
}

@test "missing names: their paths stay within the budget, are shown, and are given back" {
	check missing_names
}

@test "memory: paths are given back when the kernel asks, and no path is wrong after that" {
	check shrunk
}

@test "ring_memory_limit bounds paths, too" {
	check within_ring_memory
}

@test "a rename elsewhere causes no path to be resolved again" {
	check renames_elsewhere
}

@test "renames above a file: each record has the path of its time, while others rename too" {
	check renames_above
}
