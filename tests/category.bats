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

# bats test_tags=once
@test "control: a line that is wrong is refused, and changes nothing" {
	check errors_change_nothing
}

# bats test_tags=once
@test "control: what it shows can be written back" {
	check written_back
}

# bats test_tags=once
@test "control: lines are obeyed up to the first that is wrong" {
	check up_to_an_error
}

# bats test_tags=once
@test "control and stats: T0 is when the category was first started, or last reset" {
	check t0_is_shown
}

# bats test_tags=once
@test "logs of targets and categories can be laid side by side by their T0" {
	check logs_side_by_side
}

@test "nothing is hooked before start and after stop" {
	check hooked_while_started
}

@test "readers do not wait while hooks are attached and detached" {
	check read_while_hooking
}

@test "a filter that is set when a reader's tracing has stopped stays" {
	check filter_after_reader
}

# bats test_tags=once
@test "memory: a size above a limit is refused when it is set, with the limit's name" {
	check memory_limit
}

# bats test_tags=once
@test "filters: by process, thread, user and control group" {
	check by_task
}

# bats test_tags=once
@test "filters: by file, device and kind of file" {
	check by_file
}

# bats test_tags=once
@test "filters: by size and latency" {
	check by_size_and_latency
}

# bats test_tags=once
@test "filters: an event has to match all conditions" {
	check all_conditions
}

# bats test_tags=once
@test "filters: lists of operations and kinds, in any case and in parts" {
	check lists
}

# bats test_tags=once
@test "filters: an event that is rejected takes no slot" {
	check rejected
}

# bats test_tags=once
@test "error: names the refused command, its key and value, and the reason" {
	check refusals
}

# bats test_tags=once
@test "error: a refusal stays until the same category refuses another command" {
	check refusal_stays
}

# bats test_tags=once
@test "error: a condition that has no meaning for a category is refused" {
	check meaningless_conditions most_devices
}

# bats test_tags=once
@test "error: a size above a limit is refused with the limit's name, in the kernel's log too" {
	check refused_size
}

# bats test_tags=once
@test "error: the command is quoted, cut and escaped" {
	check refusals_are_text
}

# bats test_tags=once
@test "error: add and remove have a file of their own" {
	check root_refusals
}

# bats test_tags=once
@test "filters: a control group by its path" {
	check by_cgroup
}

# bats test_tags=once
@test "filters: the tree of a process that does not exist is refused" {
	check tree_of_nobody
}

# bats test_tags=once
@test "filters: pipes, sockets and the kernel's own files by their kind" {
	check other_kinds
}

# bats test_tags=once
@test "filters: failed lookups are of kind none" {
	check failed_lookups
}

# bats test_tags=once
@test "modes: the newest or the oldest events are kept, all are counted" {
	check newest_and_oldest
}

# bats test_tags=once
@test "sampling: one event in N is recorded, and the record has N" {
	check sampling
}

@test "waiting calls: maxactive calls of a function are followed, the others count as missed" {
	check followed_at_once
}

@test "waiting calls: a missed call of a shared function counts once" {
	check shared_function
}

# bats test_tags=once
@test "stream: gaps are exact after reset and size" {
	check reset_and_size
}

# bats test_tags=once
@test "stream: gaps are exact for a slow reader" {
	check lapped_reader
}

# bats test_tags=once
@test "stream: nothing is lost under load at the default size" {
	check busy_reader
}

# bats test_tags=once
@test "stream: can be polled, and refuses a buffer that is too small" {
	check polling
}

@test "stream: the process that reads it is not recorded" {
	check reader_is_left_out
}

# bats test_tags=once
@test "stream: with trace_reader=1 the process that reads it is recorded" {
	check reader_is_recorded
}

# bats test_tags=once
@test "log: the same in any chunk size and from any offset; can be read on" {
	check log_reading
}

# bats test_tags=once
@test "log: events of several CPUs are in the order in which they ended" {
	check by_end
}

@test "paths: each event has the path of its time, through renames and links, of any length" {
	check paths
}

# bats test_tags=once
@test "paths: the table can be read as a stream" {
	check path_stream
}

# bats test_tags=once
@test "paths: the table is bounded, and evicted paths are counted" {
	check bounded_paths
}

# bats test_tags=once
@test "a target and the category see the same calls" {
	check with_targets
}

@test "the category's totals are fio's on ext4, xfs and btrfs" {
	check totals_of_fio
}

@test "BPF's fentry and fexit and kprobes are on the same functions" {
	[ -e /sys/kernel/btf/vmlinux ] ||
		skip "the kernels of scripts/debug-kernel have no BPF"
	check beside_bpf
}

# bats test_tags=once
@test "databases: the category's counts are those of /proc/<pid>/io" {
	[ -e /proc/self/io ] || skip "this kernel does not count"
	check databases
}
