#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category uring: what a program asks of io_uring and what it gets, by request. Each
# test runs functions of uring.py.

export CATEGORY=uring
load lib/three_filesystems

@test "io_uring: events of reads and writes are what the program saw, on ext4, xfs, btrfs" {
	check reads_and_writes
}

@test "io_uring: chained and drained requests, and those of workers" {
	check chains workers
}

@test "io_uring: requests that are cancelled, refused, silent, or time out" {
	check endings
}

@test "io_uring: multishot, overflow, sockets" {
	check several sockets futex
}

@test "io_uring: a polling thread, a polled device, a registered ring" {
	check polled registered_ring
}

@test "io_uring: calls of 32-bit programs give the same events" {
	check entered_by_32_bits
}

@test "io_uring: totals are those of fio in its modes, and of liburing's examples" {
	check fio_modes examples
}

@test "io_uring: filters" {
	check filters
}

@test "io_uring: hooked only while started; kretprobes see the same" {
	check hooked
}
