#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer blame`: whose requests a disk had while whose requests waited. The traces are recorded from a
# directory that looks like /proc/iotracer, so neither root nor the module is needed; blame.py says what
# is in them, and computes each answer in another way.
#
# bats file_tags=host

load ../lib/known

@test "blame: the shares of a few requests, worked out by hand, in each format" {
	known by_hand
}

@test "blame: each wait is divided without a rest, as counting each nanosecond does" {
	known counted
}

@test "blame: writeback is of who made it dirty; by command, process and control group" {
	known owners
}

@test "blame: with any --top, sums stay whole" {
	known top
}

@test "blame: --filter, --from and --to select who waited, and all may be to blame" {
	known selected
}

@test "blame: more owners and disks than are told apart, and numbers that cannot be" {
	known hostile
}

@test "blame: machines of a merged trace share no disk" {
	known merged
}

@test "blame: a mistake has one line, and what is missing is counted" {
	known mistakes
}
