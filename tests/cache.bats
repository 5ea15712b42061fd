#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category cache: known accesses to cold and warm files give the expected events for each
# page, and the events match the kernel's own counts. Each test runs functions of cache.py.

export CATEGORY=cache
load lib/three_filesystems

@test "cache: HIT and MISS of cold and warm reads" {
	check reads
}

@test "cache: HIT and MISS of writes; each page made dirty is written once" {
	check writes
}

@test "cache: HIT and MISS of page faults" {
	check mappings
}

@test "cache: HIT and MISS of sendfile and splice" {
	check spliced
}

@test "cache: a page that is removed has its reason: INVALIDATE, EVICT, DROP" {
	check removals
}

@test "cache: a page that a control group gives back has the reason RECLAIM" {
	check reclaimed
}

@test "cache: DIRTY and WRITEBACK_END match /proc/vmstat's nr_dirtied and nr_written" {
	check vmstat
}

@test "cache: a request that io_uring retries is counted once" {
	check uring
}

@test "cache: files that no program touches have their paths" {
	check unseen
}

@test "cache: files that are renamed have their new paths" {
	check renamed
}

@test "cache: files of a filesystem that is mounted elsewhere have their new paths" {
	check remounted
}

# bats test_tags=once
@test "cache: pages of tmpfs have no events" {
	check of_tmpfs
}

# bats test_tags=once
@test "cache: filters" {
	check filters
}

# bats test_tags=once
@test "cache: samples" {
	check samples
}

@test "cache: hooked only while started; kretprobes give the same events" {
	check hooked
}
