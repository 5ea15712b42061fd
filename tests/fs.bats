#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The truth of category fs: each operation is done once, and exactly its records are
# found, with every field as stat(2), the arguments and the result of the call say; on
# four filesystems. Each test runs functions of fs.py.

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

@test "opening and closing: files, FIFOs, what has no name; and what fails" {
	check opening opening_fails by_handle nameless fifos
}

@test "syncing and advice; mappings, also those older than the trace" {
	check syncing mappings old_mapping
}

@test "attributes and extended attributes, by name and descriptor" {
	check attributes extended_attributes
}

@test "folders and names: mkdir, rmdir, getdents, link, symlink, unlink, rename, mknod" {
	check folders names
}

@test "data: read, write, fallocate; copied, cloned, sent and spliced; ENOSPC" {
	check space reading_and_writing between_files no_space
}

@test "data: what the kernel reads and writes by itself says so" {
	check by_the_kernel
}

@test "data: what the VFS rejects, where the filter asks for that" {
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

@test "programs of 32 bits; io_uring" {
	check programs_of_32_bits by_io_uring
}

@test "the kernel's own files, by ->read and ->write" {
	check own_files_of_the_kernel
}

@test "kinds of file: one of each that appears after the start, and that was open before" {
	run_functions new_kinds.py later kind_by_kind earlier
}

@test "by kretprobe: pipes and sockets that appear after the start" {
	unload_module
	load_module attach=kprobe
	run_functions new_kinds.py by_kretprobe
	unload_module
	load_module
}

@test "by kretprobe, where nothing may sleep: what programs open and how they end" {
	unload_module
	load_module attach=kprobe
	echo start >/proc/iotracer/fs/control
	for _ in 1 2 3; do ! /bin/false /mnt/ext4; done
	(cd /mnt/ext4 && mkdir one && mv one two && rmdir two && ln -s to link && rm link)
	echo stop >/proc/iotracer/fs/control
	false=$(realpath /bin/false)
	# as they were given
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
