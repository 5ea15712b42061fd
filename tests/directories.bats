#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Directories as targets. Each test runs functions of directories.py.

load lib/helpers

setup_file() {
	modprobe -a overlay btrfs
	files_and_disk
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
}

teardown_file() {
	unload_module
	umount_files_and_disk
}

# check FUNCTION...
check() {
	run_functions directories.py "$@"
}

@test "each operation below a directory, with its path from there" {
	check operations
}

@test "names that lead to nothing" {
	check missing_names
}

# bats test_tags=once
@test "so deep that there is no path" {
	check too_deep
}

@test "moved in, moved out, and the directory and what is above it renamed" {
	check moved
}

@test "the rows are those of category fs, of the same files" {
	check as_category_fs
}

@test "what is done to the disk: the bios of its files, and no others" {
	check bios bios_that_move
}

@test "overlapping directories, and a file that is a target itself" {
	check overlapping
}

@test "the filter of category fs, and its reader, while a directory is traced and after it" {
	check filter_of_fs
}

@test "what is mounted below does not count; the way through another mount does" {
	check mounts
}

# bats test_tags=once
@test "deleted, created anew, and unmounted as if it were no target" {
	check deleted
}

# bats test_tags=once
@test "32 directories, whose places are used again" {
	check places
}

# bats test_tags=once
@test "stop, start, reset, timereset, another number of events" {
	check commands
}

# bats test_tags=once
@test "log, pipe and stream have the same events, and none is lost uncounted" {
	check files_of_it
}

# bats test_tags=once
@test "what is refused" {
	check refusals
}

@test "unloading while a directory is traced" {
	check unloaded
}

@test "while names change all the time, each event is below the one directory or the other" {
	check renamed_all_the_time
}
