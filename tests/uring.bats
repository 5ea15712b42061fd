#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category uring: what a program asks of io_uring and gets, request by request. Each
# test runs functions of uring.py.

export CATEGORY=uring
load lib/three_filesystems

@test "io_uring: reads and writes in all ways, on ext4, xfs, btrfs" {
	check reads_and_writes
}

@test "io_uring: chains, drained requests, workers" {
	check chains workers
}

@test "io_uring: cancelled, refused, silent and late requests" {
	check endings
}

@test "io_uring: multishot, overflow, sockets" {
	check several sockets futex
}

@test "io_uring: a polling thread, a polled device, a registered ring" {
	check polled registered_ring
}

@test "io_uring: entered by programs of 32 bits" {
	check entered_by_32_bits
}

@test "io_uring: fio in its modes, liburing's examples" {
	check fio_modes examples
}

@test "io_uring: filters" {
	check filters
}

@test "io_uring: hooked while started only, and the same by kretprobe" {
	check hooked
}
