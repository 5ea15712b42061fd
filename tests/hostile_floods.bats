#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A process without privileges makes very many calls of one kind: what other processes do
# is recorded as before, what is lost is counted, and the kernel logs no complaint
# (scripts/vm fails if it does). Each test runs functions of hostile_floods.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/disk
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/disk
}

teardown() {
	unmap_all
	for category in fs block uring cache; do
		echo stop >"/proc/iotracer/$category/control"
	done
}

# check FUNCTION...
check() {
	run_functions hostile_floods.py "$@"
}

@test "one munmap of 30,000 mappings is recorded whole" {
	check mappings
}

@test "one close_range of 25,000 descriptors is recorded whole" {
	check descriptors
}

# bats test_tags=once
@test "with little memory each event of munmap is recorded or counted as missed" {
	check no_memory
}

# bats test_tags=once
@test "by kretprobe each event of munmap is recorded or counted as missed" {
	check by_kretprobe
}

# bats test_tags=once
@test "io_uring: beside 20,000 requests that wait, fio and full rings are recorded whole" {
	check requests
}

# bats test_tags=once
@test "block: beside 9,500 bios that wait for a device, a reader of another one is recorded whole" {
	map flood "0 $(blockdev --getsz /dev/vdc) linear /dev/vdc 0"
	check bios
	unmap flood
}

# bats test_tags=once
@test "block: beside 1,500 threads in a direct read, an event without file is one that is counted" {
	map flood "0 $(blockdev --getsz /dev/vdc) linear /dev/vdc 0"
	check direct_calls
	unmap flood
}

# bats test_tags=once
@test "fs and cache: beside 3,000 requests that will be retried, those of fio are recorded whole" {
	map flood "0 $(blockdev --getsz /dev/vdc) linear /dev/vdc 0"
	check retried_reads
	unmap flood
}

# bats test_tags=once
@test "block: beside 60,000 dirty pages a request names who wrote its page, or is counted" {
	check originators
}

@test "an sqe that changes while the kernel reads it is marked as CHANGED" {
	check sqe
}

@test "the name of a file that changes while the kernel reads it is marked as CHANGED" {
	check name_of_a_file
}

# bats test_tags=once
@test "a name that leads nowhere and changes is marked as CHANGED" {
	check name_of_nothing
}

# bats test_tags=once
@test "the name of an open that fails and changes meanwhile is marked as CHANGED" {
	check open_that_fails
}

# bats test_tags=once
@test "by kretprobe the name of an open that changes meanwhile is marked as CHANGED" {
	check open_by_kretprobe
}

@test "io_uring: each completion of a ring that is resized all the time is recorded once" {
	[[ $(uname -r) != 6.* ]] || skip "IORING_REGISTER_RESIZE_RINGS came with 6.13"
	check resized
}
