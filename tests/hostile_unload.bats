#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Unloading the module while a call never ends: rmmod succeeds, or fails at once with EBUSY,
# names the process that is in the way, and tracing goes on. stop does not wait. So it is when
# a read or write of /proc/iotracer never ends. Each test runs a function of hostile_unload.py.

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

@test "an open of a new kind of file that category fs rejects never ends: rmmod succeeds" {
	check open_of_new_kind
}

@test "a direct read that categories fs and block reject never ends: rmmod succeeds" {
	map hung "0 $(blockdev --getsz /dev/vdc) linear /dev/vdc 0"
	check rejected_by_both
	unmap hung
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

@test "a read of a target's log never ends: EBUSY, the log names the process, commands go on" {
	check log_reader
}

@test "a read of a target's log never ends: remove does not wait" {
	check removed
}

# bats test_tags=once
@test "a removed target that a task is inside of is not started, and nobody else reads it" {
	check closed
}

# bats test_tags=once
@test "a removed target that a task is inside of keeps its name, and then gives it back" {
	check name_is_taken
}

# bats test_tags=once
@test "a read of a target's pipe never ends: EBUSY, and remove does not wait" {
	check pipe_reader
}

# bats test_tags=once
@test "a read of a category's log never ends: EBUSY, reset and stop do not wait" {
	check category_log
}

# bats test_tags=once
@test "a read of a category's pipe never ends: EBUSY, reset and stop do not wait" {
	check category_pipe
}

@test "a write to control never ends: EBUSY, the log names the process, commands go on" {
	check control_writer
}

@test "a command looks up a path on a server that does not answer: EBUSY, commands go on" {
	check command_lookup
}

@test "a read of a target's log never ends, attach=kprobe: EAGAIN, and remove does not wait" {
	check by_kretprobe
}

@test "many tasks that read all the time do not keep the module loaded" {
	check many_readers
}
