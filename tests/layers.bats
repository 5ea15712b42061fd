#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Where data goes below a file: several devices, journals, swap areas, and devices that hand bios to
# threads of their own. Each test runs functions of layers.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk /mnt/some
	mount -t tmpfs files /mnt/files
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/files
}

teardown() {
	# of a test that failed, or was skipped because another one had
	echo stop >/proc/iotracer/block/control
	swapoff -a
	umount -q /mnt/some || true
	losetup -D || true
	umount -q /mnt/lower || true
	umount -q /mnt/disk || true
	[ ! -d /sys/block/md127/md ] || echo clear >/sys/block/md127/md/array_state
	unmap_all
}

# check FUNCTION [ARGUMENT]...
check() {
	local PATH=$BATS_TEST_DIRNAME/../tools:$PATH
	run_functions layers.py "$@"
}

@test "devices of a file: XFS with realtime and log devices" {
	mkfs.xfs -q -f -m reflink=0 -r rtdev=/dev/vdb -l logdev=/dev/vdc,size=64m /dev/vda >/dev/null
	mount -o rtdev=/dev/vdb,logdev=/dev/vdc /dev/vda /mnt/some
	xfs_io -c 'chattr +t' /mnt/some
	check on_devices 1 vdb
	umount /mnt/some
}

@test "devices of a file: ext4 with an external journal" {
	mkfs.ext4 -q -F -O journal_dev -b 4096 /dev/vdb
	mkfs.ext4 -q -F -b 4096 -J device=/dev/vdb /dev/vda
	mount /dev/vda /mnt/some
	check on_devices 1
	umount /mnt/some
}

@test "devices of a file: btrfs, one mirror on each of two" {
	modprobe btrfs
	mkfs.btrfs -q -f -d raid1 -m raid1 /dev/vda /dev/vdb
	mount /dev/vda /mnt/some
	check on_devices 2
	umount /mnt/some
}

@test "devices of a file: btrfs that gains a device and loses the first one while it is mounted" {
	modprobe btrfs
	mkfs.btrfs -q -f -d single -m single /dev/vda
	mount /dev/vda /mnt/some
	btrfs -q device add -f /dev/vdb /mnt/some
	check on_devices 1
	btrfs -q device remove /dev/vda /mnt/some
	check on_devices 1 vdb
	umount /mnt/some
}

@test "devices of a file: f2fs on two" {
	mkfs.f2fs -q -f -c /dev/vdb /dev/vda >/dev/null
	mount /dev/vda /mnt/some
	check on_devices 1
	umount /mnt/some
}

@test "devices of a file: erofs with its data on another one" {
	mkdir -p /mnt/files/tree
	head -c 1M /dev/urandom >/mnt/files/tree/file
	truncate -s 8M /mnt/files/blob
	mkfs.erofs --chunksize=4096 --blobdev=/mnt/files/blob /mnt/files/image /mnt/files/tree >/dev/null
	dd if=/mnt/files/image of=/dev/vda conv=fsync status=none
	dd if=/mnt/files/blob of=/dev/vdb conv=fsync status=none
	mount -t erofs -o device=/dev/vdb /dev/vda /mnt/some
	check read_only vdb
	umount /mnt/some
}

@test "devices of a file: a file that is mapped, and is the memory of a direct write to another one" {
	new_filesystem ext4 /dev/vda /mnt/some
	check mapped_buffer
	umount /mnt/some
}

@test "devices of a file: ext4 on dm-linear, whose bios below are not the file's again" {
	map lower "0 $(blockdev --getsz /dev/vdb) linear /dev/vdb 0"
	# shellcheck disable=SC2154 # set by map()
	new_filesystem ext4 "/dev/$device" /mnt/some
	check on_devices 1 "$device"
	umount /mnt/some
	unmap lower
}

@test "journal: of data=journal a file has its data once, and the journal its own" {
	# with 1 KiB blocks a page has four buffers
	for size in 4096 1024; do
		mkfs.ext4 -q -F -b "$size" -J size=16 -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda
		mount -o data=journal /dev/vda /mnt/some
		check journalled vda
		umount /mnt/some
	done
}

@test "journal: the same of an external one" {
	mkfs.ext4 -q -F -O journal_dev -b 4096 /dev/vdb
	mkfs.ext4 -q -F -b 4096 -J device=/dev/vdb -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda
	mount -o data=journal /dev/vda /mnt/some
	check journalled vda vdb
	umount /mnt/some
}

# swap_file: make a swap file in /mnt/some/swap and use it
swap_file() {
	touch /mnt/some/swap
	chattr +C /mnt/some/swap 2>/dev/null || true
	chmod 600 /mnt/some/swap
	dd if=/dev/zero of=/mnt/some/swap bs=1M count=64 conv=fsync status=none
	mkswap /mnt/some/swap >/dev/null
	swapon /mnt/some/swap
}

@test "swap: the pages of a swap file are the file's, out and in (ext4)" {
	new_filesystem ext4 /dev/vda /mnt/some
	swap_file
	check swapped vda
	swapoff /mnt/some/swap
	umount /mnt/some
}

@test "swap: the same of btrfs" {
	modprobe btrfs
	new_filesystem btrfs /dev/vda /mnt/some
	swap_file
	check swapped vda
	swapoff /mnt/some/swap
	umount /mnt/some
}

@test "swap: pages on zram, which is as quick as memory, have the flag both ways" {
	modprobe zram num_devices=1
	echo 64M >/sys/block/zram0/disksize
	mkswap /dev/zram0 >/dev/null
	swapon /dev/zram0
	check swapped_to_memory zram0
	swapoff /dev/zram0
	rmmod zram
}

@test "overlay: on two disks the device of a read is what stat shows, and what the filter takes" {
	new_filesystem ext4 /dev/vda /mnt/disk
	mkdir -p /mnt/lower
	new_filesystem ext4 /dev/vdb /mnt/lower
	mkdir /mnt/disk/upper /mnt/disk/work
	for name in early late; do
		echo lower >"/mnt/lower/lower-$name"
		echo upper >"/mnt/disk/upper/upper-$name"
	done
	mount -t overlay -o xino=off,lowerdir=/mnt/lower,upperdir=/mnt/disk/upper,workdir=/mnt/disk/work \
		overlay /mnt/some
	check layers_of_overlay
	umount /mnt/some /mnt/lower
	# the directory that cleaning up after a test empties
	umount /mnt/disk
}

@test "threads of the kernel: what they do below dm-crypt, for whom is not known, is counted and said" {
	map lower "0 131072 crypt aes-xts-plain64 $(printf '00%.0s' {1..64}) 0 /dev/vdb 0"
	# shellcheck disable=SC2154 # set by map()
	check unattributed "/dev/$device" vdb
	check record_says "/dev/$device" some
	unmap lower
}

@test "threads of the kernel: the same of a loop device" {
	new_filesystem ext4 /dev/vda /mnt/disk
	truncate -s 64M /mnt/disk/image
	modprobe loop
	check unattributed "$(losetup -f --show /mnt/disk/image)" vda
	losetup -D
	umount /mnt/disk
}

@test "threads of the kernel: writeback and a journal are no such requests" {
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/vda
	mount /dev/vda /mnt/some
	check attributed
	check record_says /mnt/some/file none
	umount /mnt/some
}
