#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category block: the events of a device match the counts of /proc/diskstats, and name
# their file and originator. Each test runs functions of block.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs files /mnt/files
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/files
}

teardown() {
	# of a test that failed, or was skipped because another one had
	losetup -D || true
	umount -q /mnt/ext4 /mnt/below || true
	[ ! -d /sys/block/md127/md ] || echo clear >/sys/block/md127/md/array_state
	unmap_all
	echo stop >/proc/iotracer/block/control
}

# check FUNCTION [ARGUMENT]...
check() {
	run_functions block.py "$@"
}

@test "block: counts and sectors match diskstats, virtio-blk without scheduler" {
	check equals_diskstats none ext4,xfs,btrfs vda
}

# bats test_tags=once
@test "block: counts and sectors match diskstats, virtio-blk with mq-deadline" {
	check equals_diskstats mq-deadline ext4 vda
}

# bats test_tags=once
@test "block: counts and sectors match diskstats, virtio-blk with bfq" {
	modprobe bfq
	check equals_diskstats bfq xfs vda
}

@test "block: counts and sectors match diskstats, null_blk" {
	modprobe null_blk nr_devices=1 gb=1 memory_backed=1 discard=1
	check equals_diskstats none xfs nullb0
	rmmod null_blk
}

@test "block: requests merged from many bios name the process that made them" {
	modprobe null_blk nr_devices=1 gb=1 irqmode=2 completion_nsec=50000000 hw_queue_depth=1 \
		max_sectors=2048
	check merged nullb0
	rmmod null_blk
}

@test "block: memory that is swapped out and in belongs to no file" {
	check swapped vdd
}

@test "block: counts and sectors match diskstats, loop and the disk below it" {
	modprobe loop
	new_filesystem ext4 /dev/vdb /mnt/below
	# ext4lazyinit would write inode tables and read bitmaps meanwhile
	mount -o remount,noinit_itable,no_prefetch_block_bitmaps /mnt/below
	truncate -s 400M /mnt/below/image
	loop=$(losetup --find --show /mnt/below/image)
	check equals_diskstats none ext4 "${loop#/dev/}" vdb
	losetup -d "$loop"
	umount /mnt/below
}

# bats test_tags=once
@test "block: counts and sectors match diskstats, dm-linear and the disk below" {
	map plain "0 $(blockdev --getsz /dev/vdc) linear /dev/vdc 0"
	# shellcheck disable=SC2154 # set by map()
	check equals_diskstats none btrfs "$device" vdc
	unmap plain
}

@test "block: counts and sectors match diskstats, dm-crypt and the disk below" {
	map hidden "0 $(blockdev --getsz /dev/vdc) crypt aes-xts-plain64 $(printf '%064d' 7) 0 /dev/vdc 0"
	check equals_diskstats none ext4 "$device" vdc
	unmap hidden
}

# mirror NAME DISK DISK: make a RAID 1 of md through sysfs, without mdadm
mirror() {
	local md=/sys/block/$1/md disk slot=0

	modprobe raid1
	echo "$1" >/sys/module/md_mod/parameters/new_array
	echo none >"$md/metadata_version"
	echo raid1 >"$md/level"
	echo 2 >"$md/raid_disks"
	echo $(($(blockdev --getsize64 "/dev/$2") / 1024)) >"$md/component_size"
	for disk in "${@:2}"; do
		cat "/sys/block/$disk/dev" >"$md/new_dev"
		echo $((slot++)) >"$md/dev-$disk/slot"
	done
	echo none >"$md/resync_start"
	echo active >"$md/array_state"
}

@test "block: counts and sectors match diskstats, md raid1 and the disks below" {
	mirror md127 vdb vdc
	check equals_diskstats none ext4 md127 vdb vdc
	echo clear >/sys/block/md127/md/array_state
}

@test "block: each bio of brd is an event, although diskstats does not count them" {
	modprobe brd rd_nr=1 rd_size=8192
	check without_counts ram0
	rmmod brd
}

# on_ext4 FUNCTION: check it with an ext4 on vda in /mnt/ext4
on_ext4() {
	echo none >/sys/block/vda/queue/scheduler
	new_filesystem ext4 /dev/vda /mnt/ext4
	check "$1"
	umount /mnt/ext4
}

@test "block: direct I/O names its file" {
	on_ext4 direct_files
}

@test "block: writeback names the process that wrote the data" {
	on_ext4 originators
}

@test "block: writeback names each page's own writer" {
	on_ext4 many_originators
}

# bats test_tags=once
@test "block: filters" {
	on_ext4 filters
}

@test "block: a failed request has its error number" {
	map bad "$(printf '%s\n' '0 1024 linear /dev/vdd 0' '1024 1024 error')"
	check errors "$device"
	unmap bad
}

@test "block: a request from before the start has no submitter" {
	modprobe loop
	check early
}

# bats test_tags=once
@test "block: the file of a direct read, where its kind of filesystem is mounted later" {
	check mounted_later /dev/vdb
}

@test "block: what is asked of zones" {
	modprobe null_blk nr_devices=1 gb=1 zoned=1 zone_size=64
	check zones nullb0
	rmmod null_blk
}

@test "block: what is asked of a driver" {
	check asked_of_driver vda
}

# scsi_disk: load scsi_debug, set $disk to its disk
scsi_disk() {
	modprobe -a scsi_debug sd_mod 2>/dev/null || skip "no SCSI"
	for _ in {1..600}; do
		disk=$(ls /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block) && return
		sleep 0.1
	done
	return 1
}

@test "block: a request that a disk fails has its error number" {
	scsi_disk
	check medium_error "$disk"
	rmmod scsi_debug
}

@test "block: requests that come again: the host is busy" {
	scsi_disk
	check busy "$disk"
	rmmod scsi_debug
}

@test "block: requests that come again: the disk does not answer" {
	scsi_disk
	check silent "$disk"
	rmmod scsi_debug
}
