#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category fault: the page faults of a program, counted as getrusage(2) counts them.
# Each test runs functions of fault.py.

export CATEGORY=fault
load lib/three_filesystems

@test "page faults: minor and major counts equal those of getrusage on ext4, xfs, btrfs, tmpfs" {
	check sums
}

@test "page faults: each page of a large folio counts when it is mapped" {
	check by_large_pages
}

@test "page faults: of programs, private copies, the kernel itself, and with SIGBUS" {
	check kinds
}

# bats test_tags=once
@test "page faults: filters" {
	check filters
}

@test "page faults: of files of FUSE; a process that waits in one does not keep the module" {
	check unbounded
}

@test "page faults: hooked only while started; by kretprobe the counts are the same" {
	check hooked
}
