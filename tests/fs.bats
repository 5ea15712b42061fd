#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Category fs records what happens: each operation is done once, on four filesystems. Then
# there must be exactly its records, and every field must agree with stat(2), the arguments and
# the result of the call. Each test runs functions of fs.py or new_kinds.py.

load lib/helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk
	mount -t tmpfs files /mnt/files
	new_filesystem ext4 /dev/vda /mnt/small 8M
	new_filesystem ext4 /dev/vdb /mnt/ext4
	new_filesystem xfs /dev/vdc /mnt/xfs
	new_filesystem btrfs /dev/vdd /mnt/btrfs
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/small /mnt/ext4 /mnt/xfs /mnt/btrfs
}

# check FUNCTION...
check() {
	run_functions fs.py "$@"
}

@test "opening and closing: files, FIFOs and nameless files; opens that fail" {
	check opening opening_fails by_handle nameless fifos
}

@test "syncing, advice, and mappings, also one older than the trace" {
	check syncing mappings old_mapping
}

@test "attributes and extended attributes, by name and descriptor" {
	check attributes extended_attributes
}

@test "directories and names: mkdir, rmdir, getdents, link, symlink, unlink, rename, mknod" {
	check directories names
}

@test "data: read, write, fallocate, copy, clone, sendfile, splice; ENOSPC" {
	check space reading_and_writing between_files no_space
}

@test "data: reads and writes by the kernel itself have the flag KERNEL" {
	check by_the_kernel
}

@test "data: calls that the VFS rejects, if the filter asks for them" {
	check rejected_calls
}

@test "locks: fcntl and flock, EAGAIN, EINTR" {
	grep -q ' fcntl_setlk$' /proc/kallsyms || skip "this kernel has no locks"
	check locks
}

@test "exec and exit" {
	grep -q ' taskstats_exit$' /proc/kallsyms || skip "this kernel has no hook for PROCESS_EXIT"
	check programs
}

@test "paths: bind mounts, a changed root, an overlay" {
	check bind_mounts changed_roots overlay
}

@test "32-bit programs; io_uring" {
	check programs_of_32_bits by_io_uring
}

@test "the kernel's own files, by ->read and ->write" {
	check own_files_of_the_kernel
}

@test "each kind of file, opened after the start or before" {
	run_functions new_kinds.py later kind_by_kind earlier
}

@test "by kretprobe: pipes and sockets that appear after the start" {
	unload_module
	load_module attach=kprobe
	run_functions new_kinds.py by_kretprobe
	unload_module
	load_module
}

@test "by kretprobe, which may not sleep: names, open, close, exec and exit" {
	unload_module
	load_module attach=kprobe
	echo start >/proc/iotracer/fs/control
	for _ in 1 2 3; do ! /bin/false /mnt/ext4; done
	(cd /mnt/ext4 && mkdir one && mv one two && rmdir two && ln -s to link && rm link)
	echo stop >/proc/iotracer/fs/control
	false=$(realpath /bin/false)
	# names are recorded as the program gave them
	for call in 'MKDIR mkdir-.* path=one ' 'RENAME mv-.* path=one path2=two ' \
		'RMDIR rmdir-.* path=two ' 'SYMLINK ln-.* path=link path2=to ' 'UNLINK rm-.* path=link '; do
		grep " $call" /proc/iotracer/fs/log
	done
	for op in PROCESS_EXEC PROCESS_EXIT CLOSE OPEN; do
		grep " $op false-" /proc/iotracer/fs/log
	done
	[ "$(grep -c " PROCESS_EXIT false-.* path=$false" /proc/iotracer/fs/log)" = 3 ]
	[ "$(sed -n 's/^missed //p' /proc/iotracer/fs/stats)" = 0 ]
	unload_module
	load_module
}
