#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Mounts and paths among users who are not friends: what a process mounts over the
# kernel's files, names that lead nowhere, directories that are renamed all the time. Each
# test runs a function of hostile_paths.py.

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

@test "mounts: a FIFO or a file of FUSE in the place of mountinfo: start does not look at it" {
	check fifo_for_mountinfo fuse_for_mountinfo
}

@test "mounts: what is mounted and moved while a category runs" {
	check mounted_later moved_mount
}

@test "mounts: nothing is held, or left in memory, after start and stop" {
	# the kernel keeps something of a first time
	check started_and_stopped
	unload_module
	remember_slabs
	check started_and_stopped started_and_stopped
	unload_module
	back_to_slabs 100
}

@test "names that lead nowhere: within the budget, shown while they are there, given back" {
	check missing_names
}

@test "memory: the kernel gets it back when it asks, and no path is wrong after that" {
	check shrunk
}

@test "ring_memory_limit holds paths, too" {
	check within_ring_memory
}

@test "renames elsewhere: no path is resolved again" {
	check renames_elsewhere
}

@test "renames above a file, while others rename: each record has the path of its time" {
	check renames_above
}
