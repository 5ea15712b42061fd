#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Images of disks as targets, with the real module: loads by qemu-io and `qemu-img bench` in every
# cache mode and by every kind of asynchronous I/O that QEMU has, raw and qcow2, on two filesystems
# and on disks of the device mapper. Each test runs a function of vm_matrix.py.

# map sets device.
# shellcheck disable=SC2154

# bats file_tags=once,plain

load ../../lib/helpers

setup_file() {
	files_and_disk
	new_filesystem xfs /dev/vdb /mnt/xfs
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/xfs
	umount_files_and_disk
}

setup() {
	PATH=$TOP/tools:$PATH
}

teardown() {
	unmap_all
}

@test "images: on ext4 each byte of qemu-io and qemu-img bench is in the log once, whatever the mode" {
	run_functions vm_matrix.py ext4
}

@test "images: on xfs each byte of qemu-io and qemu-img bench is in the log once, whatever the mode" {
	run_functions vm_matrix.py xfs
}

@test "images: on the device mapper's disks, where each sector is known, too" {
	local disk begin=0
	for disk in raw qcow2 base chain; do
		map $disk "0 32768 linear /dev/vdc $begin"
		begin=$((begin + 32768))
		ln -sf "/dev/$device" /mnt/files/$disk
	done
	run_functions vm_matrix.py mapped
}
