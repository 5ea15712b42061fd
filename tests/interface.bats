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

@test "parameters: defaults, modinfo, changes; a bad value is refused by name" {
	check parameters parameters_refused parameters_changed
}

@test "control: add, remove, several lines, large writes, NUL bytes, the same path again" {
	check add_remove several_lines large_write nul_bytes same_path
}

@test "control: several processes add, remove and list at once" {
	check commands_busy
}

@test "names: any byte is taken, as it is or in octal, and shown as seq_path shows it" {
	check names names_raw
}

@test "paths: relative, symbolic links, hard links, renamed and deleted files" {
	check paths hard_links rename deleted
}

@test "a file whose server does not answer delays only the command that names it" {
	check slow_lookup
}

@test "a change of max_events keeps the newest events and the counts, also under load" {
	check resize resize_busy
}

@test "errors: each has its errno and changes nothing" {
	check errors long_paths
}

@test "bounds: max_events_limit and ring_memory_limit are reported once and by name" {
	check max_events_limit ring_memory_limit
}

@test "rights: root's alone, or widened; nobody traces a file without the right to read it" {
	check rights rights_widened unreadable
}

@test "a target's control: stop, start, unknown words; nothing is hooked when all are stopped" {
	check stop_start target_commands hooks
}

@test "reset and timereset: what they empty and what they keep" {
	check reset timereset
}

@test "log: seven fields, nine decimals, and no thread can forge a line by its name" {
	check log_format log_content log_comm
}

@test "log: exactly the last max_events, however often the ring has wrapped" {
	check last_events
}

@test "log: an open file is the same in any chunk size, from any offset, and for two readers" {
	check chunks snapshot two_readers
}

@test "log: read while events come: whole lines, sorted, none twice" {
	check end_is_told read_busy several_writers
}

@test "log: can be followed by reading on; copying it into its own traced file ends" {
	check follow follow_changes own_file
}

@test "counts: seen = stored + overwritten + lost = the known operations" {
	check counts counts_busy
}

@test "stats and stream: the identity is that of stat(2), the schema that of format" {
	check identity stream
}

@test "names in /proc differ for one inode number on filesystems of one kind" {
	check same_inode
}

@test "open files keep neither a target nor the module from being removed" {
	check open_files
}
