#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category fault: the page faults of a program, counted as getrusage(2) counts them.
# Each test runs functions of fault.py.

export CATEGORY=fault
load lib/three_filesystems

@test "page faults: minor and major are getrusage's on ext4, xfs, btrfs, tmpfs" {
	check sums by_large_pages
}

@test "page faults: programs, private copies, the kernel's own, SIGBUS" {
	check kinds
}

@test "page faults: filters" {
	check filters
}

@test "page faults: files of FUSE, and nobody who waits for one keeps the module" {
	check unbounded
}

@test "page faults: hooked while started only, and the same by kretprobe" {
	check hooked
}
