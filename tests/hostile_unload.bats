#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Unloading the module while a call never ends: rmmod succeeds, or fails at once with EBUSY,
# names the process that is in the way, and tracing goes on. stop does not wait. Each test
# runs a function of hostile_unload.py.

load lib/helpers

setup() {
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk
	load_module
}

teardown() {
	unload_module
	umount /mnt/files /mnt/disk
}

# check FUNCTION
check() {
	run_functions hostile_unload.py "$1"
}

@test "a page fault of a file that is not wanted never ends: rmmod succeeds" {
	check rejected_fault
}

@test "a page fault that is traced never ends: EBUSY, and the log names the process" {
	check traced_fault
}

@test "a read of a target never ends: EBUSY, and remove does not wait" {
	check traced_read
}

@test "a read that category fs rejects never ends: rmmod succeeds" {
	check rejected_read
}

@test "a lookup on a server that does not answer: rmmod succeeds or gets EBUSY, at once" {
	check lookup
}

@test "each call during an rmmod that fails is counted as seen or missed" {
	check conserved
}

@test "delete_module without permission, or of another module, changes nothing" {
	check others
}
