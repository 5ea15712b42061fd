#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Processes as targets: by id, with descendants, by name and by control group. Each test runs
# functions of processes.py.

load lib/helpers

setup_file() {
	modprobe overlay
	files_and_disk
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
}

teardown_file() {
	unload_module
	umount_files_and_disk
}

# check FUNCTION...
check() {
	run_functions processes.py "$@"
}

@test "one process: what it has open, what it opens, its threads, and nobody else" {
	check by_pid
}

@test "a process has ended: its target stays, and is not of the next process with its number" {
	check ended
}

@test "a process and its descendants, two such trees at a time" {
	check by_tree
}

@test "by name: of the process, or of a thread" {
	check by_comm
}

@test "a control group, those below it, and the next group of that path" {
	check by_cgroup
}

@test "what was made dirty is theirs, whoever writes it back, and when they are gone" {
	check written_back
}

# bats test_tags=once
@test "what was made dirty before a process was added is not its" {
	check dirty_before
}

@test "what a process submits, and not what other layers make of it" {
	check submitted
}

@test "the rows are those of category fs with the same condition" {
	check as_category_fs
}

@test "beside a directory, and category fs with another filter" {
	check beside_others
}

# bats test_tags=once
@test "what is refused, and with what reason" {
	check refused_texts too_many
}

# bats test_tags=once
@test "stopped, started, reset, resized, and added again" {
	check controlled
}

@test "added and removed while they work: all is counted" {
	check under_load
}
