#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category cache: known accesses to cold and warm files give the expected events for each
# page, and the events match the kernel's own counts. Each test runs functions of cache.py.

export CATEGORY=cache
load lib/three_filesystems

@test "cache: HIT and MISS of cold and warm reads, writes and mappings on ext4, xfs, btrfs" {
	check reads writes mappings spliced
}

@test "cache: a page that is removed has its reason: INVALIDATE, EVICT, DROP, RECLAIM" {
	check removals reclaimed
}

@test "cache: DIRTY and WRITEBACK_END match /proc/vmstat's nr_dirtied and nr_written" {
	check vmstat
}

@test "cache: a request that io_uring retries is counted once" {
	check uring
}

@test "cache: files that no program touches have their paths, also after mounts" {
	check unseen remounted
}

@test "cache: filters and samples" {
	check filters samples
}

@test "cache: hooked only while started; kretprobes give the same events" {
	check hooked
}
