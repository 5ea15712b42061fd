#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Memory: the limit holds at every moment, also while CPUs come and go; many targets and
# chosen inode numbers do not make lookups long; no byte is shown that was not written.
# Each test runs functions of hostile_memory.py.

# bats file_tags=once

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

@test "a log that fills the memory limit is reset in place, even while it is read" {
	check reset_at_limit
}

@test "a log that fills the memory limit is resized in place" {
	check resize_at_limit
}

@test "memory that is given back is free at once: add, remove and reset never pass the limit" {
	check limit_holds
}

@test "rings take no more memory than they need" {
	check exact_sizes
}

@test "a category that fills the limit is reset and resized while events arrive" {
	check category_at_limit
}

@test "start takes start_bytes of memory; if refused, it reports how much it needs" {
	check start_tells
}

@test "CPUs: online ones have a ring before they run" {
	check hotplug
}

@test "CPUs: without memory for a ring of their own their events are lost, which is counted" {
	check hotplug_at_limit
}

@test "many targets: hash chains are short, and a remove does not visit the other targets" {
	check many_targets
}

@test "inode numbers chosen to collide in the hash do not collide" {
	check chosen_numbers
}

@test "no byte of a record is shown that was not written" {
	# On debug kernels the module itself poisons its slots.
	[ -e "$BATS_TEST_DIRNAME/../build/$(uname -r)-poison/iotracer.ko" ] ||
		grep -q slots=poisoned "$(ko)" || skip "scripts/build-all 6.12-poison builds what this needs"
	check poison
}
