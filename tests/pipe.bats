#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The file pipe of a category and of a target, which people read with cat: it shows
# events as they come, each to one reader; a read ends when the pipe goes; nothing waits
# for a reader. Each test runs functions of pipe.py.

# bats file_tags=once

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
	run_functions pipe.py "$@"
}

@test "cat of a category's pipe waits, prints events as they come, and ends at a signal" {
	check category_cat
}

@test "cat of a target's pipe waits, prints events as they come, as in the log, and ends at a signal" {
	check target_cat
}

@test "reads of any size return the same lines, those from before the first open first" {
	check chunks
}

@test "each event goes to one reader, and also to the log" {
	check two_readers
}

@test "many readers at once: no line is read twice, torn or missing" {
	check many_readers
}

@test "events of several CPUs are in the order in which they ended" {
	check by_end
}

@test "poll and O_NONBLOCK" {
	check polling
}

@test "the number of events that are gone before they were read is reported: a slow reader" {
	check lapped
}

@test "the number of events that are gone before they were read is reported: reset and size" {
	check reset_and_size
}

@test "the number of events that are gone before they were read is reported: small rings" {
	check busy
}

@test "mode discard: events that were read make room for new ones" {
	check discard
}

@test "the reader of the pipe is left out of the trace, unless another process reads the stream" {
	check reader_is_left_out
}

@test "a reader that stops does not hold up anything else" {
	check stopped_reader
}

@test "removing a target ends reads that wait; later ones get EIO" {
	check removed
}

@test "rmmod ends reads that wait and wakes polls" {
	check unloaded
}

@test "rmmod ends reads that wait and are traced calls themselves" {
	check unloaded_traced
}
