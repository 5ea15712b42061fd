#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Categories: control, filters, rings, log and stream, paths; by the reads and
# writes of category fs, whose sums are fio's own. Each test runs functions of
# category.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk 256M
	new_filesystem ext4 /dev/vdb /mnt/ext4
	new_filesystem xfs /dev/vdc /mnt/xfs
	new_filesystem btrfs /dev/vdd /mnt/btrfs
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/disk /mnt/ext4 /mnt/xfs /mnt/btrfs
}

# check FUNCTION...
check() {
	run_functions category.py "$@"
}

@test "control: what it takes, what it shows can be written back, errors change nothing" {
	check grammar
}

@test "nothing is hooked before start and after stop" {
	check hooked_while_started
}

@test "reading does not wait while hooks are attached and let go" {
	check read_while_hooking
}

@test "memory: a size that cannot be had is refused when it is set, with the limit's name" {
	check memory_limit
}

@test "filters: by task, file, operation, size and latency" {
	check filters
}

@test "refused: the file error says which command, which key and value, and why" {
	check refusals refusals_are_text root_refusals
}

@test "filters: a control group by its path; the tree of a process that is not there" {
	check by_cgroup tree_of_nobody
}

@test "filters: pipes, sockets and the kernel's own files by their kind" {
	check other_kinds
}

@test "filters: failed lookups, as kind none" {
	check failed_lookups
}

@test "modes: the newest or the oldest are kept, all are counted" {
	check newest_and_oldest
}

@test "sampling: one in N, and the record says so" {
	check sampling
}

@test "waiting calls: maxactive of a function are followed, the others are counted" {
	check followed_at_once shared_function
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

@test "BPF's fentry and fexit and kprobes are on the same functions" {
	[ -e /sys/kernel/btf/vmlinux ] ||
		skip "the kernels of scripts/debug-kernel have no BPF"
	check beside_bpf
}

@test "databases: what /proc/<pid>/io counts is what the category has" {
	[ -e /proc/self/io ] || skip "this kernel does not count"
	check databases
}
