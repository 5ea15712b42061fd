#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# /proc/iotracer as people and scripts use it: parameters, commands, names,
# errors, logs, counts, rights, bounds. Each test runs functions of interface.py.

load lib/helpers

setup_file() {
	files_and_disk
}

teardown_file() {
	unload_module
	umount_files_and_disk
}

# check FUNCTION...
check() {
	run_functions interface.py "$@"
}

@test "parameters: defaults, and modinfo explains each" {
	check parameters
}

# bats test_tags=once
@test "parameters: a bad value is refused by name, and nothing is loaded" {
	check parameters_refused
}

# bats test_tags=once
@test "parameters: MAX_EVENTS changes for later targets" {
	check parameters_changed
}

@test "control: add, list and remove" {
	check add_remove
}

# bats test_tags=once
@test "control: several lines in one write, up to the first that fails" {
	check several_lines
}

# bats test_tags=once
@test "control: lines cut anywhere by large writes" {
	check large_write
}

# bats test_tags=once
@test "control: a NUL byte is refused, as it is and in octal" {
	check nul_bytes
}

# bats test_tags=once
@test "control: the same path again changes nothing" {
	check same_path
}

# bats test_tags=once
@test "control: several processes add, remove and list at once" {
	check commands_busy
}

@test "names: any byte is taken in octal, and shown as seq_path shows it" {
	check names
}

# bats test_tags=once
@test "names: any byte is taken as it is, but newline, blanks at the end and octal escapes" {
	check names_raw
}

# bats test_tags=once
@test "names: blanks at the end of a line are no part of a name" {
	check blanks_at_the_end
}

@test "paths: relative, and through symbolic links" {
	check paths
}

@test "paths: hard links are names of one target" {
	check hard_links
}

@test "paths: a renamed file is removed by its old or its new name" {
	check rename
}

@test "paths: a deleted file is listed until it is removed" {
	check deleted
}

@test "a file whose server does not answer delays only the command that names it" {
	check slow_lookup
}

# bats test_tags=once
@test "a change of max_events keeps the newest events and the counts" {
	check resize
}

# bats test_tags=once
@test "a change of max_events while a process writes" {
	check resize_busy
}

# bats test_tags=once
@test "errors: each has its errno and changes nothing" {
	check errors
}

# bats test_tags=once
@test "errors: paths and names that are too long, and the longest that are not" {
	check long_paths
}

# bats test_tags=once
@test "bounds: max_events_limit is reported once and by name" {
	check max_events_limit
}

# bats test_tags=once
@test "bounds: ring_memory_limit is reported once and by name" {
	check ring_memory_limit
}

@test "rights: root's alone" {
	check rights
}

@test "rights: widened by proc_uid, proc_gid and proc_mode" {
	check rights_widened
}

@test "rights: nobody traces a file without the right to read it" {
	check unreadable
}

# bats test_tags=once
@test "a target's control: stop and start" {
	check stop_start
}

# bats test_tags=once
@test "a target's control: unknown words are refused" {
	check target_commands
}

@test "nothing is hooked when all targets are stopped" {
	check hooks
}

# bats test_tags=once
@test "reset: what it empties and what it keeps" {
	check reset
}

# bats test_tags=once
@test "timereset: times in the log start anew" {
	check timereset
}

# bats test_tags=once
@test "log: seven fields, nine decimals" {
	check log_format
}

# bats test_tags=once
@test "log: what each field says" {
	check log_content
}

@test "log: no thread can forge a line by its name" {
	check log_comm
}

# bats test_tags=once
@test "log: exactly the last max_events, however often the ring has wrapped" {
	check last_events
}

# bats test_tags=once
@test "log: an open file is the same in any chunk size and from any offset" {
	check chunks
}

# bats test_tags=once
@test "log: what a reader has started to read does not change" {
	check snapshot
}

# bats test_tags=once
@test "log: two readers at once get the same" {
	check two_readers
}

# bats test_tags=once
@test "log: end of file comes before events of the meantime" {
	check end_of_file
}

# bats test_tags=once
@test "log: read while events come: whole lines, sorted, none twice" {
	check read_busy
}

@test "log: events of several writers are sorted, none twice" {
	check several_writers
}

# bats test_tags=once
@test "log: can be followed by reading on" {
	check follow
}

# bats test_tags=once
@test "log: can be followed through reset, resize, stop and start" {
	check follow_changes
}

# bats test_tags=once
@test "log: copying it into its own traced file ends" {
	check own_file
}

@test "counts: seen = stored + overwritten + lost = the known operations" {
	check counts
}

# bats test_tags=once
@test "counts: the same under load" {
	check counts_busy
}

@test "stats: the identity is that of stat(2)" {
	check identity
}

# bats test_tags=once
@test "stream: the schema is that of format" {
	check stream
}

@test "names in /proc differ for one inode number on filesystems of one kind" {
	check same_inode
}

@test "open files keep neither a target nor the module from being removed" {
	check open_files
}
