#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# /proc/iotracer as people and scripts use it: parameters, commands, names,
# errors, logs, counts, rights, bounds. Each test runs functions of interface.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk 256M
}

teardown_file() {
	unload_module
	umount /mnt/files
	umount /mnt/disk
}

# check FUNCTION...
check() {
	run_functions interface.py "$@"
}

@test "parameters: defaults, modinfo, nonsense refused by name, changed" {
	check parameters parameters_refused parameters_changed
}

@test "control: add, remove, several lines, large writes, NUL bytes, the same again" {
	check add_remove several_lines large_write nul_bytes same_path
}

@test "control: several at once add, remove and list" {
	check commands_busy
}

@test "names: any byte goes in, as it is or in octal, and comes out as seq_path writes it" {
	check names names_raw
}

@test "paths: relative, symbolic links, hard links, renamed and deleted files" {
	check paths hard_links rename deleted
}

@test "a file whose server does not answer keeps nobody waiting but who names it" {
	check slow_lookup
}

@test "another max_events: newest events and counts are kept, also under load" {
	check resize resize_busy
}

@test "errors: each has its number and changes nothing" {
	check errors long_paths
}

@test "bounds: max_events_limit and ring_memory_limit, said once and by name" {
	check max_events_limit ring_memory_limit
}

@test "rights: root's alone, or widened; nobody traces what he may not read" {
	check rights rights_widened unreadable
}

@test "a target's control: stop, start, unknown words; nothing hooked when all are stopped" {
	check stop_start target_commands hooks
}

@test "reset and timereset: what they empty and what they keep" {
	check reset timereset
}

@test "log: seven fields, nine digits, and no name of a thread forges one" {
	check log_format log_content log_comm
}

@test "log: exactly the last max_events, round and round" {
	check last_events
}

@test "log: the same in any chunk size, from any offset, for two readers, to its end" {
	check chunks snapshot two_readers
}

@test "log: read while it is written: whole lines, sorted, none twice" {
	check end_is_told read_busy several_writers
}

@test "log: following is reading on; a log copied into its own file ends" {
	check follow follow_changes own_file
}

@test "counts: seen = stored + overwritten + lost = the known operations" {
	check counts counts_busy
}

@test "stats and stream: identity as stat(2) says, schema as format says" {
	check identity stream
}

@test "names in /proc: filesystems of one kind, one inode number" {
	check same_inode
}

@test "open files keep neither a target nor the module" {
	check open_files
}
