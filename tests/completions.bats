#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Requests of io_submit and io_uring on targets: their events have the latency until the completion.
# Each test runs a function of completions.py. The files are on a disk that can hold its requests.

load lib/helpers

setup_file() {
	map held "0 $(blockdev --getsz /dev/vda) linear /dev/vda 0"
	# shellcheck disable=SC2154 # map() sets it
	mkfs.ext4 -q -F "/dev/$device"
	mkdir -p /mnt/files /mnt/disk
	mount -o noinit_itable "/dev/$device" /mnt/files
	load_module
	PATH=$(cd "$BATS_TEST_DIRNAME/../tools" && pwd):$PATH
}

teardown() {
	dmsetup resume --noudevsync held # a test that fails leaves it suspended
}

teardown_file() {
	unload_module
	umount /mnt/files
	unmap_all
}

check() {
	run_functions completions.py "$@"
}

@test "libaio: submission and completion of requests that the disk holds" {
	check held_by_aio
}

# bats test_tags=once
@test "libaio: in category fs a latency ends with the submission" {
	check held_in_fs
}

@test "io_uring: submission and completion of requests that the disk holds" {
	check held_by_uring
}

@test "io_uring, polled" {
	modprobe null_blk nr_devices=1 gb=1 poll_queues=1
	check polled
	rmmod null_blk
}

@test "results: bytes up to the end of the file, an error of the disk" {
	check results
}

@test "libaio, io_uring: fio's totals, each request to its completion" {
	check totals_of_fio
}

# bats test_tags=once
@test "log: a request is where it began, before what ended while it was in flight" {
	check by_begin
}

@test "more in flight than are noted: each is recorded once" {
	check flood
}

@test "stopped, removed and unloaded while requests are in flight" {
	check in_flight
}

# bats test_tags=once
@test "profile and the columns say what a latency is of" {
	check shown
}
