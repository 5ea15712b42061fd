#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Who may use /proc/iotracer, with whose rights it acts, what it gives away, and what it
# prints: attacks of processes with few rights, and names that command a terminal. Each
# test runs functions of hostile_access.py.

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

@test "no capability: neither uid 0 in a container, nor in a user namespace, nor anybody else" {
	check without_capability
}

@test "modes that let everybody in let in who has a capability, no other" {
	check wide_modes
}

@test "CAP_PERFMON or CAP_SYS_ADMIN is all that it takes" {
	check one_capability
}

@test "the group that root named: all of it, but not from another namespace" {
	check group user
}

@test "a descriptor that was handed on is read, and written to by who may" {
	check handed_on
}

@test "commands act with the rights of who opened the file, also by a setuid program" {
	check acts_as_opener deputy
}

@test "a device node is worth nothing on a nodev mount" {
	check nodev
}

@test "addresses of other processes: only with the right capability, in text and in binary" {
	check addresses
}

@test "names that command a terminal: control, logs, stats, filters, the kernel's log" {
	check terminal_module terminal_node terminal_parameter
}

@test "names that command a terminal: the tool" {
	check terminal_tool terminal_trace terminal_messages
}

@test "the tool says what is missing" {
	check told
}
