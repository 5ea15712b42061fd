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

@test "opening and closing files" {
	check opening
}

@test "opens that fail" {
	check opening_fails
}

@test "opening by handle" {
	check by_handle
}

@test "files without a name" {
	check nameless
}

@test "opening FIFOs" {
	check fifos
}

@test "syncing and advice" {
	check syncing
}

@test "mappings" {
	check mappings
}

@test "a mapping from before the trace" {
	check old_mapping
}

@test "attributes, by name and descriptor" {
	check attributes
}

@test "extended attributes, by name and descriptor" {
	check extended_attributes
}

@test "directories: mkdir, rmdir, getdents" {
	check directories
}

@test "names: link, symlink, unlink, rename, mknod" {
	check names
}

@test "data: fallocate and truncate" {
	check space
}

@test "data: read and write" {
	check reading_and_writing
}

@test "data: copy, clone, sendfile, splice" {
	check between_files
}

@test "data: a full filesystem" {
	check no_space
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

@test "paths: bind mounts" {
	check bind_mounts
}

@test "paths: a changed root" {
	check changed_roots
}

@test "paths: an overlay" {
	check overlay
}

@test "by io_uring" {
	check by_io_uring
}

@test "by programs of 32 bits" {
	check programs_of_32_bits
}

@test "the kernel's own files, by ->read and ->write" {
	check own_files_of_the_kernel
}

@test "each kind of file, opened after the start" {
	run_functions new_kinds.py later
}

@test "each kind of file alone, opened after the start" {
	run_functions new_kinds.py kind_by_kind
}

@test "each kind of file, opened before the start" {
	run_functions new_kinds.py earlier
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
