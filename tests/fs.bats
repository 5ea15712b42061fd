#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The truth of category fs: each operation is done once, and exactly its records are
# found, with every field as stat(2), the arguments and the result of the call say; on
# four filesystems. Each test runs functions of fs.py.

load helpers

setup_file() {
	mkdir -p /mnt/files /mnt/disk /mnt/small /mnt/ext4 /mnt/xfs /mnt/btrfs
	mount -t tmpfs files /mnt/files
	mkfs.ext4 -q -F /dev/vda 8M
	mkfs.ext4 -q -F /dev/vdb
	mkfs.xfs -q -f /dev/vdc
	mkfs.btrfs -q -f /dev/vdd 2>"$BATS_FILE_TMPDIR/mkfs"
	mount /dev/vda /mnt/small
	mount /dev/vdb /mnt/ext4
	mount /dev/vdc /mnt/xfs
	mount /dev/vdd /mnt/btrfs
	load_module
}

teardown_file() {
	unload_module
	umount /mnt/files /mnt/small /mnt/ext4 /mnt/xfs /mnt/btrfs
}

# check FUNCTION...
check() {
	IOTRACER_KO=$(ko) PYTHONDONTWRITEBYTECODE=1 python3 -S -s "$BATS_TEST_DIRNAME/fs.py" "$@"
}

@test "open, openat, openat2, creat; close, dup2, close_range" {
	check opening
}

@test "opening that fails: ENOENT, ENOTDIR, EEXIST, EISDIR, EBADF, EFAULT, EACCES" {
	check opening_fails
}

@test "open_by_handle_at" {
	check by_handle
}

@test "fsync and its kin, advice" {
	check syncing
}

@test "mmap, munmap, mremap, msync, madvise; of a mapping older than the trace" {
	check mappings old_mapping
}

@test "stat, chmod, chown, utimens, truncate, access, statfs, by name and descriptor" {
	check attributes
}

@test "extended attributes" {
	check extended_attributes
}

@test "mkdir, rmdir, getdents, chdir" {
	check folders
}

@test "link, symlink, readlink, unlink, rename, mknod" {
	check names
}

@test "fallocate; read and write" {
	check space reading_and_writing
}

@test "ENOSPC" {
	check no_space
}

@test "copy_file_range, sendfile, clone, splice, tee, vmsplice" {
	check between_files
}

@test "locks: fcntl and flock, EAGAIN, EINTR" {
	check locks
}

@test "exec and exit" {
	check programs
}

@test "bind mounts" {
	check bind_mounts
}

@test "a changed root" {
	check changed_roots
}

@test "files without a name" {
	check nameless
}

@test "opening a FIFO" {
	check fifos
}

@test "an overlay; FLUSH" {
	check overlay
}

@test "programs of 32 bits" {
	check programs_of_32_bits
}

@test "io_uring" {
	check by_io_uring
}

@test "the kernel's own files, by ->read and ->write" {
	check own_files_of_the_kernel
}
