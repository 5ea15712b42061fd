#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Memory: the limit holds at every moment, CPUs come and go, many targets and chosen
# inode numbers do not make look-ups long, no byte is shown that was not written.
# Each test runs functions of hostile_memory.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs -o nr_inodes=0 files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/ext4 1G
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/ext4
}

# check FUNCTION...
check() {
	run_functions hostile_memory.py "$@"
}

@test "a log that fills the limit is emptied and resized in place, whoever reads" {
	check reset_at_limit resize_at_limit
}

@test "what is given back is free: adding, removing and emptying never pass the limit" {
	check limit_holds
}

@test "rings take what they use" {
	check exact_sizes
}

@test "a category that fills the limit is emptied and resized, with events all the time" {
	check category_at_limit
}

@test "start tells what it takes, and what it lacks" {
	check start_tells
}

@test "CPUs: memory for those that are online, before they run; without any, events are lost" {
	check hotplug hotplug_at_limit
}

@test "many targets: short chains, and a remove does not look at the others" {
	check many_targets
}

@test "inode numbers chosen to collide do not" {
	check chosen_numbers
}

@test "no byte of a record is shown that was not written" {
	# Debug kernels have it in the module itself.
	[ -e "$BATS_TEST_DIRNAME/../build/$(uname -r)-poison/iotracer.ko" ] ||
		grep -q slots=poisoned "$(ko)" || skip "scripts/build-all 6.12-poison builds what this needs"
	check poison
}
