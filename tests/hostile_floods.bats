#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A process without any right does much of one thing: what others do is recorded as
# ever, what is lost is counted, and the kernel has nothing to complain of (scripts/vm
# fails if it has). Each test runs functions of hostile_floods.py.

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

@test "one munmap of 30,000 mappings, one close_range of 25,000 descriptors" {
	check mappings descriptors
}

@test "the same where there is no memory for it, and by kretprobe" {
	check no_memory by_kretprobe
}

@test "io_uring: 20,000 requests that wait, beside fio and full rings" {
	check requests
}

@test "block: 9,500 bios that wait for a device, beside a reader of another" {
	map flood "0 $(blockdev --getsz /dev/vdc) linear /dev/vdc 0"
	check bios
	unmap flood
}

@test "what changes while the kernel takes it: an sqe, a name" {
	check sqe name_of_a_file name_of_nothing
}
