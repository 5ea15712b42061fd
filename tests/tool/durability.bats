#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer durability`: which writes were on the disk when. The traces are recorded from a directory that
# looks like /proc/iotracer, so neither root nor the module is needed; durability.py says what is in them,
# and computes each answer in another way. tests/guests/power_cut.bats compares with real disks.
#
# bats file_tags=host

load ../lib/known

@test "durability: a few writes and syncs, worked out by hand, in each format" {
	known by_hand
}

@test "durability: writeback and a flush prove, in place only, and only for bytes that were durable before" {
	known device
}

@test "durability: direct, asynchronous and synchronous writes" {
	known direct
}

@test "durability: what each kind of sync proves, and what a failure takes away" {
	known syncs
}

@test "durability: truncations, holes, copies and numbers of files that are used again" {
	known truncated
}

@test "durability: names of files that were created, renamed and removed" {
	known names
}

@test "durability: stores to a mapping" {
	known mapped
}

@test "durability: of random writes, syncs, writeback and flushes, what each byte's history says" {
	known counted
}

@test "durability: --at, --file, --filter and --top" {
	known selected
}

@test "durability: events that are missing or sampled make nothing durable" {
	known missing
}

@test "durability: numbers and names that cannot be, and machines of a merged trace" {
	known hostile
}

@test "durability: a mistake has one line" {
	known mistakes
}
