#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Access to /proc/iotracer: who may use it, with whose rights commands act, which addresses it
# shows to whom, and that names cannot send control characters to a terminal. The attackers are
# processes with few rights. Each test runs functions of hostile_access.py.

load lib/helpers

setup_file() {
	make -s -C "$BATS_TEST_DIRNAME/../tools"
	mkdir -p /mnt/files /mnt/nodev
	mount -t tmpfs files /mnt/files
	mount -t tmpfs -o nodev nodev /mnt/nodev
	new_filesystem ext4 /dev/vda /mnt/disk 256M
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/nodev /mnt/disk
}

# check FUNCTION...
check() {
	run_functions hostile_access.py "$@"
}

@test "no access without a capability: uid 0 in a container, in a user namespace, other users" {
	check without_capability
}

@test "file modes that permit everybody let in only processes with a capability" {
	check wide_modes
}

@test "CAP_PERFMON or CAP_SYS_ADMIN alone is enough" {
	check one_capability
}

@test "the group that root named has access, but not from another namespace" {
	check group
}

@test "the user that root named has access, but not from another namespace" {
	check user
}

@test "a descriptor that is handed on may be read, and be written by those who may open the file" {
	check handed_on
}

@test "commands act with the rights of the opener" {
	check acts_as_opener
}

@test "commands that a setuid program writes act with the rights of the opener" {
	check deputy
}

@test "a device node on a nodev mount cannot be traced" {
	check nodev
}

@test "addresses of other processes are shown only with the right capability, in text and binary" {
	check addresses addresses_on_devices
}

# bats test_tags=once
@test "control characters in names are escaped: control, logs, stats, filters" {
	check terminal_module
}

# bats test_tags=once
@test "control characters in the name of a device node are escaped" {
	check terminal_node
}

# bats test_tags=once
@test "control characters in parameters are escaped in the kernel's log" {
	check terminal_parameter
}

# bats test_tags=once
@test "control characters in names are escaped: the tool" {
	check terminal_tool
}

# bats test_tags=once
@test "control characters in names are escaped: traces, labels and tags" {
	check terminal_trace
}

# bats test_tags=once
@test "control characters in arguments are escaped: messages of the tool" {
	check terminal_messages
}

# bats test_tags=once
@test "the tool names the missing permission" {
	check missing_permission
}
