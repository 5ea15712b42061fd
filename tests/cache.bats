#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category cache: known accesses to cold and warm files, page by page; the kernel's
# own counts. Each test runs functions of cache.py.

export CATEGORY=cache
load lib/three_filesystems

@test "cache: HIT and MISS of cold and warm reads, writes and mappings on ext4, xfs, btrfs" {
	check reads writes mappings spliced
}

@test "cache: why pages go: INVALIDATE, EVICT, DROP, RECLAIM" {
	check removals reclaimed
}

@test "cache: DIRTY and WRITEBACK_END are /proc/vmstat's nr_dirtied and nr_written" {
	check vmstat
}

@test "cache: requests that io_uring tries again are counted once" {
	check uring
}

@test "cache: paths of files that no program touches, also after mounts" {
	check unseen remounted
}

@test "cache: filters and samples" {
	check filters samples
}

@test "cache: hooked while started only, and the same by kretprobe" {
	check hooked
}
