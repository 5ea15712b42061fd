#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# `iotracer join` with the real module and QEMU's block layer: qemu-nbd serves an image as a disk of
# the kernel that is traced. The disk's requests are the guest's, qemu-nbd's calls the host's. Both
# have the same clock, so it is known how far the clocks are apart: not at all.

bats_require_minimum_version 1.5.0

# bats file_tags=once,plain

load ../../lib/helpers

setup_file() {
	new_filesystem ext4 /dev/vda /mnt/images
	modprobe nbd nbds_max=1
	load_module
}

teardown_file() {
	unload_module
	rmmod nbd
	umount /mnt/images
}

setup() {
	PATH=$TOP/tools:$PATH
	cd /mnt/images || return
	rm -rf /mnt/images/*
}

teardown() {
	qemu-nbd -d /dev/nbd0 >/dev/null
}

running() {
	grep -qx start "/proc/iotracer/$1/control"
}

is_gone() {
	! pgrep -x qemu-nbd >/dev/null
}

# joined IMAGE OPTION...: a load on the image, and what join makes of it when it is whole
joined() {
	local recorder
	qemu-nbd -c /dev/nbd0 --cache=none "${@:2}" "$1" 3>&-
	iotracer record -o t -c fs,block --compress=never 3>&- &
	recorder=$!
	wait_for running block
	fio --name=load --filename=/dev/nbd0 --size=16M --rw=randrw --bsrange=4k-64k --ioengine=libaio --iodepth=4 \
		--direct=1 --io_size=4M --randseed=7 --fdatasync=16 >fio.log
	kill -INT "$recorder"
	wait "$recorder"
	qemu-nbd -d /dev/nbd0 >/dev/null
	wait_for is_gone
	iotracer join t t --disk "nbd0=$1" -f csv >rows
	run_functions join.py real || { iotracer join t t --disk "nbd0=$1"; return 1; }
}

@test "join: a raw image, by io_uring" {
	qemu-img create -q -f raw disk.img 16M
	joined /mnt/images/disk.img -f raw --aio=io_uring
}

@test "join: a qcow2 image with a backing file, by threads" {
	dd if=/dev/urandom of=base.img bs=1M count=16 status=none
	qemu-img create -q -f qcow2 -b base.img -F raw disk.qcow2
	joined /mnt/images/disk.qcow2 -f qcow2 --aio=threads
}
