#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Files that the kernel opens for itself: each is opened, read, written and released once in
# category fs, with the flag KERNEL. Each test runs a function of kernel_files.py.

export CATEGORY=fs
load lib/helpers
load lib/nfs

setup_file() {
	files_and_disk
	load_module
}

teardown_file() {
	unload_module
	umount_files_and_disk
}

teardown() {
	echo stop >"/proc/iotracer/$CATEGORY/control"
	! mountpoint -q /mnt/nfs || umount /mnt/nfs
	! mountpoint -q /proc/fs/nfsd || stop_nfs
}

# check FUNCTION...
check() {
	run_functions kernel_files.py "$@"
}

@test "a core dump" {
	check core_dump
}

@test "a core dump that cannot be created" {
	check no_core_dump
}

@test "the accounting of processes" {
	check accounting
}

@test "a swap file" {
	check swap_file
}

@test "firmware" {
	check firmware
}

@test "a module that is read from a descriptor" {
	check module
}

@test "a kernel that is read from a descriptor" {
	check kexec
}

@test "a message queue" {
	check message_queue
}

@test "an event of fanotify" {
	check event_of_fanotify
}

@test "a file that overlayfs copies up" {
	check copied_up
}

@test "a file that the NFS server opens for a client, and one of cachefiles for that client" {
	modprobe cachefiles
	mkdir /mnt/files/served
	serve_nfs /mnt/files/served
	check served_and_cached
	stop_nfs
}

@test "by kretprobe, which may not sleep" {
	unload_module
	load_module attach=kprobe
	check core_dump no_core_dump accounting
	unload_module
	load_module
}
