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

@test "io_uring: chained requests" {
	check links
}

@test "io_uring: a drained request" {
	check drained
}

@test "io_uring: requests of workers" {
	check workers
}

@test "io_uring: a request that is cancelled" {
	check cancelled
}

@test "io_uring: requests that are refused" {
	check refused
}

@test "io_uring: a request without a completion" {
	check silent
}

@test "io_uring: a request that times out" {
	check timed_out
}

@test "io_uring: a multishot request has many completions" {
	check multishot
}

@test "io_uring: more completions than the ring holds" {
	check overflow
}

@test "io_uring: sockets" {
	check sockets
}

@test "io_uring: a request without a file" {
	check futex
}

@test "io_uring: requests that the ring's own thread submits" {
	check polling_thread
}

@test "io_uring: requests to a device that is polled" {
	check polled_device
}

@test "io_uring: a registered ring" {
	check registered_ring
}

@test "io_uring: calls of 32-bit programs give the same events" {
	check entered_by_32_bits
}

@test "io_uring: totals are those of fio in its modes" {
	check fio_modes
}

# bats test_tags=once
@test "io_uring: totals are those of liburing's examples" {
	check examples
}

# bats test_tags=once
@test "io_uring: filters" {
	check filters
}

@test "io_uring: hooked only while started; kretprobes see the same" {
	check hooked
}
