#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer findings`: which process waited for what, and why. The traces are recorded from a directory that
# looks like /proc/iotracer; waits.py says what is in them, and works the figures out.
#
# bats file_tags=host

load ../lib/known

@test "waits: another process has the disk: it is named, with its share and its bytes" {
	known neighbour
}

@test "waits: flushes, the disk, something else, small calls, and what is not known" {
	known reasons
}

@test "waits: a row needs a tenth of the time, and the longest five are shown" {
	known rows
}

@test "waits: which requests belong to the calls" {
	known belong
}

@test "waits: machines of a merged trace are apart" {
	known machines
}
