#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer path`: one I/O from the call to the disk, and back. The traces are recorded from a directory that
# looks like /proc/iotracer, so neither root nor the module is needed; path.py says what is in them.
#
# bats file_tags=host

load ../lib/known

@test "path: the steps of a call, worked out by hand, in each format" {
	known by_hand
}

@test "path: what happens to the bytes of a buffered write later" {
	known writeback
}

@test "path: a request has the write whose data it is, and the calls that wait for it" {
	known up
}

@test "path: what else the disk did, and for whom" {
	known meanwhile
}

@test "path: an event by its name, or the slowest of a byte or a file" {
	known found
}

@test "path: what is more than is kept is counted" {
	known limits
}

@test "path: numbers that cannot be, and names that control a terminal" {
	known hostile
}

@test "path: a mistake has one line" {
	known mistakes
}
