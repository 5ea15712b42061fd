#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Calls that never end, and the module's unloading: rmmod is done, or fails at once with
# EBUSY and names who is in the way; stop waits for nobody, and tracing goes on. Each
# test runs a function of hostile_unload.py.

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

@test "a fault of a file that is not wanted waits for ever: rmmod is done" {
	check rejected_fault
}

@test "a fault that is traced waits for ever: EBUSY, and the log names the process" {
	check traced_fault
}

@test "a read of a target into memory that never comes: EBUSY, and remove does not wait" {
	check traced_read
}

@test "a read that category fs rejects, into memory that never comes: rmmod is done" {
	check rejected_read
}

@test "a path looked up on a server that does not answer: EBUSY or done, at once" {
	check lookup
}

@test "what passes while the module is not unloaded is counted" {
	check conserved
}

@test "delete_module by those who may not, and of other modules, changes nothing" {
	check others
}
