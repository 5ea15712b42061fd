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
	for category in fs block uring; do
		echo stop >"/proc/iotracer/$category/control"
	done
}

# check FUNCTION...
check() {
	run_functions hostile_floods.py "$@"
}

@test "one munmap of 30,000 mappings and one close_range of 25,000 descriptors are recorded whole" {
	check mappings descriptors
}

@test "with little memory, or by kretprobe, each event of munmap is recorded or counted as missed" {
	check no_memory by_kretprobe
}

@test "io_uring: beside 20,000 requests that wait, fio and full rings are recorded whole" {
	check requests
}

@test "block: beside 9,500 bios that wait for a device, a reader of another one is recorded whole" {
	map flood "0 $(blockdev --getsz /dev/vdc) linear /dev/vdc 0"
	check bios
	unmap flood
}

@test "an sqe or a name that changes while the kernel reads it is marked as CHANGED" {
	check sqe name_of_a_file name_of_nothing
}
