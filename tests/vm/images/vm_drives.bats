#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer add --vm` and `log --vm` with the real module: a drive of a QEMU is written while its
# files are replaced, moved, deleted and unplugged. QEMU is stopped, and its own command qemu-io
# writes as a guest would.

bats_require_minimum_version 1.5.0

# bats file_tags=once,plain

load ../../lib/helpers

setup_file() {
	new_filesystem ext4 /dev/vda /mnt/images
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/images
}

setup() {
	PATH=$TOP/tools:$PATH
	cd /mnt/images || return
	rm -rf /mnt/images/*
}

teardown() {
	[ ! -s pid ] || kill -KILL "$(cat pid)" || true
	iotracer remove -a >/dev/null 2>&1 || true
}

# machine OPTION...: a stopped QEMU with a drive disk0 of top, and a place for others
machine() {
	qemu-system-x86_64 -accel tcg -S -nodefaults -display none -name guest=moving -qmp "unix:$PWD/qmp,server=on,wait=off" \
		-daemonize -pidfile pid -drive "file=$PWD/top,if=none,id=d0,$1" -device virtio-blk-pci,drive=d0,id=disk0 \
		-device virtio-scsi-pci 3>&-
}

@test "add --vm: of a raw drive each byte is in the log once, with its file, whatever becomes of its files" {
	qemu-img create -q -f raw top 64M
	qemu-img create -q -f raw other 64M
	machine format=raw,cache=none
	run_functions vm_drives.py all raw
}

@test "add --vm: so is each byte of a qcow2 drive" {
	qemu-img create -q -f qcow2 top 64M
	qemu-img create -q -f qcow2 other 64M
	machine format=qcow2,cache=writeback
	run_functions vm_drives.py all qcow2
}

@test "log --vm: an image that nobody could tell the drive of keeps its rows, other files of QEMU have none" {
	qemu-img create -q -f raw top 64M
	machine format=raw
	run_functions vm_drives.py unseen
}

@test "log --vm: a machine that has ended is found by its name until it is removed" {
	qemu-img create -q -f raw top 64M
	machine format=raw
	run_functions vm_drives.py ended
}

@test "log --vm --follow: each write comes while the machine runs, and at its end all are as in the log" {
	qemu-img create -q -f raw top 64M
	machine format=raw,cache=none
	run_functions vm_drives.py followed
}
