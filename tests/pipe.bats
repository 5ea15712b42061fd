#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The file pipe of a category and of a target: events as they come, each for one
# reader, with cat; what ends it, and that nobody waits for its reader. Each test runs
# functions of pipe.py.

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
	run_functions pipe.py "$@"
}

@test "cat pipe waits, shows events as they come and the lines of the log, and ends at a signal" {
	check category_cat target_cat
}

@test "in any chunk size the same; what was there at the first open comes first" {
	check chunks
}

@test "each event is for one reader, and for the log all the same" {
	check two_readers many_readers
}

@test "poll and O_NONBLOCK" {
	check polling
}

@test "what is gone before it could be read is told, exactly" {
	check lapped reset_and_size busy
}

@test "mode discard: what was taken makes room" {
	check discard
}

@test "who reads it is left out, but not in place of who reads the stream" {
	check reader_is_left_out
}

@test "a reader that stops holds nobody up" {
	check stopped_reader
}

@test "the target is removed: a read that waits ends, a later one gets EIO" {
	check removed
}

@test "rmmod: reads that wait end, also where they are traced calls themselves; polls wake" {
	check unloaded unloaded_traced
}
