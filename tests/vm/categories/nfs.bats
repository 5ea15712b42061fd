#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bats file_tags=plain
#
# Reads and writes of the NFS server for a client, which is this machine, too, are traced, and
# targets follow names that the client changes.

bats_require_minimum_version 1.5.0

load ../../lib/helpers
load ../../lib/nfs

setup_file() {
	new_filesystem ext4 /dev/vda /mnt/disk
	serve_nfs /mnt/disk
	load_module
}

teardown_file() {
	unload_module
	stop_nfs
	umount /mnt/disk
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mount_client
}

teardown() {
	! mountpoint -q /mnt/nfs || umount /mnt/nfs
	echo stop >/proc/iotracer/fs/control
}

# served: print the bytes that the server has read and written by its own count
served() {
	sed -n 's/^io //p' /proc/net/rpc/nfsd
}

# moved OP: print the bytes of OP in category fs; all must be from the server and have its flags
moved() {
	run_functions nfs.py moved "$1" /mnt/disk/f
}

# of_target R|W: print the bytes in the log of the file; all must be from the server
of_target() {
	run_functions nfs.py of_target "$1" "$(target_dir /mnt/disk/f)/log"
}

@test "NFS: each byte that the server reads and writes is in category fs, flagged, and in the log" {
	local read written read_then written_then
	touch /mnt/disk/f
	echo add /mnt/disk/f 10000 >/proc/iotracer/control
	printf '%s\n' reset "filter op=READ,WRITE dev=$(mountpoint -d /mnt/disk)" start >/proc/iotracer/fs/control
	read -r read written < <(served)
	head -c 716800 /dev/urandom >data
	dd if=data of=/mnt/nfs/f bs=100k conv=fsync,notrunc status=none
	umount /mnt/nfs
	mount_client
	cmp /mnt/nfs/f data
	umount /mnt/nfs
	echo stop >/proc/iotracer/fs/control
	read -r read_then written_then < <(served)
	[ "$((written_then - written))" = 716800 ]
	[ "$(moved WRITE)" = 716800 ]
	[ "$(of_target W)" = 716800 ]
	[ "$((read_then - read))" -ge 716800 ]
	[ "$(moved READ)" = "$((read_then - read))" ]
	[ "$(of_target R)" = "$((read_then - read))" ]
	echo remove /mnt/disk/f >/proc/iotracer/control
}

@test "NFS: a target of the client follows its path" {
	run_functions nfs.py follow /mnt/nfs/a
}

@test "NFS: a target of the server follows its path, which the client changes" {
	run_functions nfs.py follow /mnt/disk/b
}
