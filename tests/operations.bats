#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Targets of "add -a": flushes, truncations, allocations and the like are in their logs.
# Each test runs functions of operations.py.

export CATEGORY=block
load lib/three_filesystems

@test "operations: without -a a log has reads and writes only" {
	check only_reads_and_writes
}

@test "operations: each call on a file of ext4, xfs, btrfs and tmpfs is one row" {
	check files
}

@test "operations: deduplication reads both ranges" {
	check deduplicated
}

@test "operations: the fsync of an O_SYNC write is a part of the write" {
	check sync_writes
}

# bats test_tags=once
@test "operations: a target that is traced is extended by add -a, and stopped and started" {
	check extended
}

@test "operations: the flush of a file's fsync is in its log" {
	check flushes
}

@test "operations: what a truncation discards is in the file's log" {
	check discards
}

@test "operations: flushes, discards and zeroes of a device, at both levels" {
	check devices
}

@test "operations: a partition and its disk" {
	check partitions
}

@test "operations: a range that changes during the call is counted, and no guess is recorded" {
	check changed_range
}

@test "operations: a FLUSH of category block names the file whose fsync submitted it" {
	check named_flushes
}

@test "operations: a FLUSH of category block names a device, and the image of a loop device" {
	check named_device
}

# bats test_tags=once
@test "operations: the parameter all_operations" {
	check parameter_all
}

@test "operations: the tool adds, and CSV and JSON name the operations" {
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
	echo data >/mnt/ext4/named
	iotracer add -a -i /mnt/ext4/named
	fallocate -n -o 4096 -l 4096 /mnt/ext4/named
	fallocate -p -o 4096 -l 4096 /mnt/ext4/named
	truncate -s 0 /mnt/ext4/named
	sync -d /mnt/ext4/named
	iotracer log --format=json /mnt/ext4/named | jq -r 'select(.level == "vfs") | [.op, .offset_bytes, .requested_bytes, .result] | join(" ")' >"$BATS_TEST_TMPDIR/rows"
	# fallocate(1) syncs
	diff - "$BATS_TEST_TMPDIR/rows" <<-'END'
		ALLOCATE_KEEP_SIZE 4096 4096 0
		FSYNC 0 0 0
		PUNCH_HOLE 4096 4096 0
		FSYNC 0 0 0
		TRUNCATE 0 0 0
		FDATASYNC 0 0 0
	END
	[ "$(iotracer log --format=csv --no-header /mnt/ext4/named | grep -c ',FSYNC,')" = 2 ]
	run iotracer profile /mnt/ext4/named
	[ "$status" = 0 ]
	iotracer status /mnt/ext4/named | grep -q '^  operations  all$'
	[ "$(iotracer status --format=json /mnt/ext4/named | jq '.[0].all_operations')" = true ]
	iotracer remove --all
}
