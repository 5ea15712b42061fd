#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Attacks with mounts and paths: a process mounts something over a file of the kernel, looks
# up names that do not exist, or renames directories all the time. Each test runs functions
# of hostile_paths.py.

load lib/helpers

setup_file() {
	files_and_disk
	GHOSTS=$BATS_TEST_DIRNAME/../build/$(uname -r)/ghost
	export GHOSTS
}

teardown_file() {
	unload_module
	umount_files_and_disk
}

# check FUNCTION...
check() {
	run_functions hostile_paths.py "$@"
}

@test "mounts: start does not read a FIFO that is mounted over mountinfo" {
	check fifo_for_mountinfo
}

@test "mounts: start does not read a FUSE file that is mounted over mountinfo" {
	check fuse_for_mountinfo
}

@test "mounts: paths are right after a mount is made while a category runs" {
	check mounted_later
}

@test "mounts: paths are right after a mount is moved while a category runs" {
	check moved_mount
}

@test "mounts: among 1,200 mounts the one of a file is found with interrupts off" {
	check many_mounts
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

@test "memory: the table of paths is charged, and given back with the last path" {
	check table_comes_and_goes
}

@test "memory: without room for the table of paths events have no path, which is counted" {
	check no_room_for_table
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

# bats test_tags=once
@test "after 2^31 renames no path of before them is taken for a present one" {
	check renames_wrap
}
