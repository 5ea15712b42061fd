#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category fault: the page faults of a program, counted as getrusage(2) counts them.
# Each test runs functions of pagefault.py.

load helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/ext4
	new_filesystem xfs /dev/vdb /mnt/xfs
	new_filesystem btrfs /dev/vdc /mnt/btrfs
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/ext4 /mnt/xfs /mnt/btrfs
}

teardown() {
	[ ! -e /proc/iotracer ] || echo stop >/proc/iotracer/fault/control
}

# check FUNCTION...
check() {
	run_functions pagefault.py "$@"
}

@test "page faults: minor and major are getrusage's on ext4, xfs, btrfs, tmpfs" {
	check sums by_large_pages
}

@test "page faults: programs, private copies, the kernel's own, SIGBUS" {
	check kinds
}

@test "page faults: filters" {
	check filters
}

@test "page faults: hooked while started only, and the same by kretprobe" {
	check hooked
}
