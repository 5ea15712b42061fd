#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What all categories share: control, filters, rings, log, stream and paths. The
# tests use reads and writes of category fs, whose totals have to be fio's own. Each
# test runs functions of category.py.

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

@test "control: takes its commands; what it shows can be written back; errors change nothing" {
	check grammar
}

@test "nothing is hooked before start and after stop" {
	check hooked_while_started
}

@test "readers do not wait while hooks are attached and detached" {
	check read_while_hooking
}

@test "memory: a size above a limit is refused when it is set, with the limit's name" {
	check memory_limit
}

@test "filters: by task, file, operation, size and latency" {
	check filters
}

@test "error: names the refused command, its key and value, and the reason" {
	check refusals refusals_are_text root_refusals
}

@test "filters: a control group by its path; the tree of a process that does not exist" {
	check by_cgroup tree_of_nobody
}

@test "filters: pipes, sockets and the kernel's own files by their kind" {
	check other_kinds
}

@test "filters: failed lookups are of kind none" {
	check failed_lookups
}

@test "modes: the newest or the oldest events are kept, all are counted" {
	check newest_and_oldest
}

@test "sampling: one event in N is recorded, and the record has N" {
	check sampling
}

@test "waiting calls: maxactive calls of a function are followed, the others count as missed" {
	check followed_at_once shared_function
}

@test "stream: gaps are exact after reset and size, for a slow reader, and under load" {
	check reset_and_size lapped_reader busy_reader
}

@test "stream: can be polled, and refuses a buffer that is too small" {
	check polling
}

@test "stream: the process that reads it is not recorded" {
	check reader_is_left_out
}

@test "log: the same in any chunk size and from any offset; can be read on" {
	check log_reading
}

@test "paths: each event has the path of its time, through renames and links, of any length" {
	check paths
}

@test "paths: the table can be read as a stream, and is bounded" {
	check path_stream bounded_paths
}

@test "a target and the category see the same calls" {
	check with_targets
}

@test "the category's totals are fio's own on ext4, xfs, btrfs" {
	check laws
}

@test "BPF's fentry and fexit and kprobes are on the same functions" {
	[ -e /sys/kernel/btf/vmlinux ] ||
		skip "the kernels of scripts/debug-kernel have no BPF"
	check beside_bpf
}

@test "databases: the category's counts are those of /proc/<pid>/io" {
	[ -e /proc/self/io ] || skip "this kernel does not count"
	check databases
}
