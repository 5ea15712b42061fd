#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# bats file_tags=plain
#
# A test makes one call, request, page or step, all of whose properties are known: each field
# of its record must have the known value. Each test runs a function of fields.py. The files
# are on a disk whose reads take 50 ms at least: dm_delay, which the debug kernels do not have. It
# counts jiffies, of which it may skip some, so it is told twice as much.

bats_require_minimum_version 1.5.0

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk /mnt/slow
	mount -t tmpfs files /mnt/files
	modprobe dm_delay
	mkfs.ext4 -q -F /dev/vda
	map slow "0 $(blockdev --getsz /dev/vda) delay /dev/vda 0 100 /dev/vda 0 0"
	# shellcheck disable=SC2154 # map() sets it
	mount -o noinit_itable "/dev/$device" /mnt/slow
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/slow
	modprobe -r null_blk # another suite has other parameters
	unmap_all
	umount /mnt/files
}

teardown() {
	for category in $(categories); do
		echo stop >"/proc/iotracer/$category/control"
		echo filter none >"/proc/iotracer/$category/control"
		echo sample 1 >"/proc/iotracer/$category/control"
	done
}

check() {
	run_functions fields.py "$@"
}

@test "fields: a call, also if one event in two is recorded" {
	check call
}

@test "fields: page faults that wait for the disk, and that do not" {
	check page_faults
}

@test "fields: pages that are read from disk, found in memory, and made dirty" {
	check pages
}

@test "fields: requests and completions of io_uring" {
	check steps
}

# null_blk_of_depth N: make a device whose requests take 50 ms, N of them at a time
null_blk_of_depth() {
	modprobe -r null_blk
	modprobe null_blk nr_devices=1 gb=1 irqmode=2 completion_nsec=50000000 hw_queue_depth="$1" submit_queues=1
}

@test "fields: queued requests of a device that serves one at a time" {
	null_blk_of_depth 1
	check one_at_a_time
}

@test "fields: requests that a device serves at the same time" {
	null_blk_of_depth 8
	check at_the_same_time
}

@test "fields: a request to the second partition" {
	check second_partition
}

@test "fields: calls and bios of a target" {
	check target_of_both_levels
}
