#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Categories: control, filters, rings, log and stream, paths; by the reads and
# writes of category fs, whose sums are fio's own. Each test runs functions of
# category.py.

load helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk /mnt/ext4 /mnt/xfs /mnt/btrfs
	mount -t tmpfs files /mnt/files
	mkfs.ext4 -q -F /dev/vda 256M
	mount /dev/vda /mnt/disk
	mkfs.ext4 -q -F /dev/vdb
	mkfs.xfs -q -f /dev/vdc
	mkfs.btrfs -q -f /dev/vdd 2>"$BATS_FILE_TMPDIR/mkfs"
	mount /dev/vdb /mnt/ext4
	mount /dev/vdc /mnt/xfs
	mount /dev/vdd /mnt/btrfs
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/disk /mnt/ext4 /mnt/xfs /mnt/btrfs
}

# check FUNCTION...
check() {
	IOTRACER_KO=$(ko) PYTHONDONTWRITEBYTECODE=1 python3 -S -s "$BATS_TEST_DIRNAME/category.py" "$@"
}

@test "control: what it takes, what it shows can be written back, errors change nothing" {
	check grammar
}

@test "nothing is hooked before start and after stop" {
	check hooked_while_started
}

@test "memory: beyond the limit start and size fail, and change nothing" {
	check memory_limit
}

@test "filters: by task, file, operation, size and latency" {
	check filters
}

@test "filters: pipes, sockets and the kernel's own files by their kind" {
	check other_kinds
}

@test "modes: the newest or the oldest are kept, all are counted" {
	check newest_and_oldest
}

@test "sampling: one in N, and the record says so" {
	check sampling
}

@test "stream: over reset and size, lapped, busy; gaps are exact" {
	check reset_and_size lapped_reader busy_reader
}

@test "stream: poll; too small a buffer is refused" {
	check polling
}

@test "stream: who reads it is left out" {
	check reader_is_left_out
}

@test "log: in any chunk size, from any offset, and on" {
	check log_reading
}

@test "paths: of the time of the event, through renames and links, of any length" {
	check paths
}

@test "paths: the table as a stream; its bound" {
	check path_stream bounded_paths
}

@test "a target and the category see the same calls" {
	check with_targets
}

@test "fio's totals are the category's on ext4, xfs, btrfs" {
	check laws
}

@test "databases: what /proc/<pid>/io counts is what the category has" {
	[ -e /proc/self/io ] || skip "this kernel does not count"
	check databases
}
