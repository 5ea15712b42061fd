// SPDX-License-Identifier: GPL-2.0
/*
 * Category fs: which functions are hooked for everything but reads and writes.
 *
 * On x86-64 each system call has functions of its own that get the registers of the
 * program: one for 64-bit programs and one or two for 32-bit programs. A hook on such
 * a function sees every call, including those that fail early. Some calls that name
 * a file share one function (do_unlinkat() and the like). It is hooked instead, and
 * covers io_uring's requests, too. Other io_uring requests use functions that the
 * kernel calls from many places: only calls from functions of io_uring are events.
 *
 * Each function is an entry in a table; struct iot_call (fs_frame.h) describes the
 * fields. A call that may sleep without bound (locks, pipes) is followed by a
 * kretprobe, every other one by a wrapper, see hook_set.c.
 *
 * Contexts: ftrace handlers, wrappers and kretprobe handlers run in the task that
 * makes the call, in process context with interrupts enabled. A wrapper may sleep, the
 * handlers may not. __fput() also runs in a kernel thread.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <asm/ptrace.h>
#include "core/names.h"
#include "core/param.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/point.h"
#include "hook/redirect.h"
#include "hook/symbol.h"
#include "record/wants.h"
#include "probe/fs_calls.h"
#include "probe/fs_frame.h"

#define SYSCALL_PROTO		.proto = IOT_HOOK_SYSCALL
#define URING_PROTO		"int (struct io_kiocb *, int)"
#define SYSCALL(n, o)		.name = n, .op = IOT_FS_##o, SYSCALL_PROTO
#define COMPAT(n, o)		.name = n, .op = IOT_FS_##o, SYSCALL_PROTO, .compat = true
#define FUNCTION(n, o)		.name = n, .op = IOT_FS_##o, .function = true
#define CALLED(n, o, by)	.name = n, .op = IOT_FS_##o, .function = true, .caller = by
#define KERNEL_OPENS(what)	.opens = IOT_OPENS_##what, .pointer = true, \
				.begin = iot_kernel_begin_open, .end = iot_kernel_end_open

static void end_void(struct iot_frame *f, s64 result)
{
	iot_fs_end(&f->e, 0);
}

static const struct iot_call calls[] = {
	{ SYSCALL("open", OPEN), .path = 1, .flags = 2, .flags2 = 3, .begin = iot_open_begin,
	  .end = iot_open_end },
	{ SYSCALL("openat", OPEN), .dfd = 1, .path = 2, .flags = 3, .flags2 = 4,
	  .begin = iot_open_begin, .end = iot_open_end },
	{ SYSCALL("openat2", OPEN), .dfd = 1, .path = 2, .begin = iot_open_begin_how,
	  .end = iot_open_end_how },
	{ SYSCALL("creat", OPEN), .path = 1, .flags2 = 2, .begin = iot_open_begin_creat,
	  .end = iot_open_end },
	{ SYSCALL("open_by_handle_at", OPEN), .flags = 3, .begin = iot_open_begin_handle,
	  .end = iot_open_end },
	{ SYSCALL("open_tree", OPEN), .dfd = 1, .path = 2, .begin = iot_open_begin_tree,
	  .end = iot_open_end },
	{ SYSCALL("open_tree_attr", OPEN), .dfd = 1, .path = 2, .begin = iot_open_begin_tree,
	  .end = iot_open_end },
	{ SYSCALL("fsmount", OPEN), .begin = iot_open_begin_mount, .end = iot_open_end },
	{ CALLED("do_filp_open", OPEN, "io_openat2"),
	  .proto = "struct file * (int, struct filename *, struct open_flags *)",
	  .newer = "do_file_open", .pointer = true,
	  .begin = iot_open_begin_uring, .end = iot_open_end_uring },
	{ FUNCTION("filp_open", OPEN), KERNEL_OPENS(TEXT), .flags = 2, .flags2 = 3,
	  .proto = "struct file * (char *, int, short)" },
	{ FUNCTION("file_open_name", OPEN), .caller = "filp_open", .except = true,
	  KERNEL_OPENS(NAME), .flags = 2, .flags2 = 3,
	  .proto = "struct file * (struct filename *, int, short)" },
	{ FUNCTION("file_open_root", OPEN), KERNEL_OPENS(TEXT_AT), .flags = 3, .flags2 = 4,
	  .proto = "struct file * (struct path *, char *, int, short)",
	  .wants = iot_kernel_wants_name },
	{ FUNCTION("dentry_open", OPEN), KERNEL_OPENS(PATH), .flags = 2,
	  .proto = "struct file * (struct path *, int, struct cred *)",
	  .wants = iot_kernel_wants_open },
	{ FUNCTION("dentry_open_nonotify", OPEN), .optional = true, KERNEL_OPENS(PATH), .flags = 2,
	  .proto = "struct file * (struct path *, int, struct cred *)" },
	{ FUNCTION("dentry_create", CREATE), KERNEL_OPENS(PATH), .flags = 2, .flags2 = 3,
	  .proto = "struct file * (struct path *, int, short, struct cred *)" },
	{ FUNCTION("kernel_file_open", OPEN), .optional = true, KERNEL_OPENS(PATH), .flags = 2,
	  .proto = "struct file * (struct path *, int, struct cred *)" },
	{ FUNCTION("open_with_fake_path", OPEN), .optional = true, KERNEL_OPENS(PATH), .flags = 2,
	  .proto = "struct file * (struct path *, int, struct inode *, struct cred *)",
	  .wants = iot_kernel_wants_own_path },
	{ FUNCTION("vfs_tmpfile_open", CREATE), KERNEL_OPENS(OTHER), .flags = 4, .flags2 = 3,
	  .proto = "struct file * (_, struct path *, short, int, struct cred *)",
	  .newer = "kernel_tmpfile_open" },
	{ SYSCALL("close", CLOSE), .fd = 1, .flushes = true, .begin = iot_file_begin_close,
	  .end = iot_file_end_close },
	{ SYSCALL("close_range", CLOSE), .begin = iot_file_begin_close_range },
	{ SYSCALL("dup2", CLOSE), .wants = iot_file_wants_dup, .begin = iot_file_begin_dup,
	  .end = iot_file_end_dup },
	{ SYSCALL("dup3", CLOSE), .wants = iot_file_wants_dup, .begin = iot_file_begin_dup,
	  .end = iot_file_end_dup },
	{ CALLED("filp_close", CLOSE, "io_close"),
	  .proto = "int (struct file *, void *)", .flushes = true,
	  .begin = iot_file_begin_close_given, .end = iot_file_end_close },
	{ FUNCTION("filp_flush", FLUSH),
	  .proto = "int (struct file *, void *)",
	  .optional = true, .wants = iot_file_wants_flush,
	  .begin = iot_file_begin_given },
	{ CALLED("filp_close", FLUSH, "io_close"), .except = true,
	  .proto = "int (struct file *, void *)",
	  .instead = "filp_flush", .wants = iot_file_wants_flush,
	  .begin = iot_file_begin_given },
	{ FUNCTION("__fput", RELEASE),
	  .proto = "void (struct file *)", .wants = iot_file_wants_release,
	  .begin = iot_file_begin_release, .end = end_void },
	{ SYSCALL("fsync", FSYNC), .fd = 1, .begin = iot_file_begin },
	{ SYSCALL("fdatasync", FDATASYNC), .fd = 1, .begin = iot_file_begin },
	{ CALLED("vfs_fsync_range", FSYNC, "io_fsync"),
	  .proto = "int (struct file *, long, long, int)", .begin = iot_file_begin_fsync },
	{ FUNCTION("vfs_fsync", FSYNC), .extra = IOT_CALL_KERNEL,
	  .proto = "int (struct file *, int)", .wants = iot_file_wants_kernels,
	  .begin = iot_file_begin_vfs_fsync },
	{ SYSCALL("sync", SYNC), .begin = iot_file_begin_sync },
	{ SYSCALL("syncfs", SYNCFS), .fd = 1, .begin = iot_file_begin },
	{ SYSCALL("sync_file_range", SYNC_FILE_RANGE), .fd = 1, .flags = 4, .offset = 2,
	  .requested = 3, .begin = iot_file_begin },
	{ COMPAT("ia32_sync_file_range", SYNC_FILE_RANGE), .wide = BIT(1) | BIT(2), .fd = 1,
	  .flags = 4, .offset = 2, .requested = 3, .begin = iot_file_begin },
	{ CALLED("sync_file_range", SYNC_FILE_RANGE, "io_sync_file_range"),
	  .proto = "int (struct file *, long, long, int)", .flags = 4,
	  .offset = 2, .requested = 3, .begin = iot_file_begin_given },
	{ SYSCALL("mmap", MMAP), .flags = 4, .flags2 = 3, .offset = 6, .requested = 2,
	  .wants = iot_map_wants, .begin = iot_map_begin, .end = iot_map_end },
	{ COMPAT("mmap_pgoff", MMAP), .flags = 4, .flags2 = 3, .offset = 6, .requested = 2,
	  .wants = iot_map_wants, .begin = iot_map_begin_pages, .end = iot_map_end },
	{ COMPAT("ia32_mmap", MMAP), .begin = iot_map_begin_ia32, .end = iot_map_end },
	{ SYSCALL("munmap", MUNMAP), .begin = iot_map_begin_range },
	{ SYSCALL("mremap", MREMAP), .flags = 4, .requested = 3, .begin = iot_map_begin_remap },
	{ SYSCALL("msync", MSYNC), .flags = 3, .begin = iot_map_begin_range },
	{ SYSCALL("remap_file_pages", MMAP), .begin = iot_map_begin_remap_pages },
	{ SYSCALL("madvise", MADVISE), .flags = 3, .begin = iot_map_begin_range },
	{ SYSCALL("process_madvise", MADVISE), .flags = 4, .begin = iot_map_begin_process,
	  .end = iot_map_end_process },
	{ CALLED("do_madvise", MADVISE, "io_madvise"),
	  .proto = "int (struct mm_struct *, long, long, int)",
	  .flags = 4, .begin = iot_map_begin_advise },
	{ SYSCALL("fadvise64", FADVISE), .fd = 1, .flags = 4, .offset = 2, .requested = 3,
	  .begin = iot_file_begin },
	{ COMPAT("ia32_fadvise64", FADVISE), .wide = BIT(1), .fd = 1, .flags = 4, .offset = 2,
	  .requested = 3, .begin = iot_file_begin },
	{ COMPAT("ia32_fadvise64_64", FADVISE), .wide = BIT(1) | BIT(2), .fd = 1, .flags = 4,
	  .offset = 2, .requested = 3, .begin = iot_file_begin },
	{ SYSCALL("readahead", FADVISE), .fd = 1, .offset = 2, .requested = 3,
	  .begin = iot_file_begin_readahead },
	{ COMPAT("ia32_readahead", FADVISE), .wide = BIT(1), .fd = 1, .offset = 2, .requested = 3,
	  .begin = iot_file_begin_readahead },
	{ CALLED("vfs_fadvise", FADVISE, "io_fadvise"),
	  .proto = "int (struct file *, long, long, int)",
	  .flags = 4, .offset = 2, .requested = 3,
	  .begin = iot_file_begin_given },
	{ SYSCALL("newstat", GETATTR), .path = 1, .begin = iot_path_begin },
	{ COMPAT("stat", GETATTR), .path = 1, .begin = iot_path_begin },
	{ COMPAT("ia32_stat64", GETATTR), .path = 1, .begin = iot_path_begin },
	{ SYSCALL("newlstat", GETATTR), .path = 1, .lookup = IOT_LOOKUP_NOFOLLOW,
	  .extra = AT_SYMLINK_NOFOLLOW, .begin = iot_path_begin },
	{ COMPAT("lstat", GETATTR), .path = 1, .lookup = IOT_LOOKUP_NOFOLLOW,
	  .extra = AT_SYMLINK_NOFOLLOW, .begin = iot_path_begin },
	{ COMPAT("ia32_lstat64", GETATTR), .path = 1, .lookup = IOT_LOOKUP_NOFOLLOW,
	  .extra = AT_SYMLINK_NOFOLLOW, .begin = iot_path_begin },
	{ SYSCALL("newfstat", GETATTR), .fd = 1, .begin = iot_file_begin },
	{ COMPAT("fstat", GETATTR), .fd = 1, .begin = iot_file_begin },
	{ COMPAT("ia32_fstat64", GETATTR), .fd = 1, .begin = iot_file_begin },
	{ SYSCALL("newfstatat", GETATTR), .dfd = 1, .path = 2, .flags = 4,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ COMPAT("ia32_fstatat64", GETATTR), .dfd = 1, .path = 2, .flags = 4,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ SYSCALL("statx", GETATTR), .dfd = 1, .path = 2, .flags = 3, .lookup = IOT_LOOKUP_AT,
	  .begin = iot_path_begin },
	{ CALLED("do_statx", GETATTR, "io_statx"),
	  .proto = "int (int, struct filename *, int, int, struct statx *)",
	  .flags = 3, .begin = iot_path_begin_statx },
	{ SYSCALL("file_getattr", GETATTR), .dfd = 1, .path = 2, .flags = 5,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ SYSCALL("file_setattr", SETFLAGS), .dfd = 1, .path = 2, .flags = 5,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin_setflags },
	{ SYSCALL("chmod", CHMOD), .path = 1, .flags2 = 2, .begin = iot_path_begin },
	{ SYSCALL("fchmod", CHMOD), .fd = 1, .flags2 = 2, .begin = iot_file_begin },
	{ SYSCALL("fchmodat", CHMOD), .dfd = 1, .path = 2, .flags2 = 3, .begin = iot_path_begin },
	{ SYSCALL("fchmodat2", CHMOD), .dfd = 1, .path = 2, .flags = 4, .flags2 = 3,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ SYSCALL("chown", CHOWN), .path = 1, .offset = 2, .requested = 3,
	  .begin = iot_path_begin_chown },
	{ SYSCALL("lchown", CHOWN), .path = 1, .offset = 2, .requested = 3,
	  .lookup = IOT_LOOKUP_NOFOLLOW, .extra = AT_SYMLINK_NOFOLLOW,
	  .begin = iot_path_begin_chown },
	{ SYSCALL("fchown", CHOWN), .fd = 1, .offset = 2, .requested = 3,
	  .begin = iot_file_begin_chown },
	{ COMPAT("chown16", CHOWN), .path = 1, .offset = 2, .requested = 3,
	  .begin = iot_path_begin_chown },
	{ COMPAT("lchown16", CHOWN), .path = 1, .offset = 2, .requested = 3,
	  .lookup = IOT_LOOKUP_NOFOLLOW, .extra = AT_SYMLINK_NOFOLLOW,
	  .begin = iot_path_begin_chown },
	{ COMPAT("fchown16", CHOWN), .fd = 1, .offset = 2, .requested = 3,
	  .begin = iot_file_begin_chown },
	{ SYSCALL("fchownat", CHOWN), .dfd = 1, .path = 2, .flags = 5, .offset = 3,
	  .requested = 4, .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin_chown },
	{ SYSCALL("utime", UTIMENS), .path = 1, .begin = iot_path_begin },
	{ SYSCALL("utimes", UTIMENS), .path = 1, .begin = iot_path_begin },
	{ COMPAT("utime32", UTIMENS), .path = 1, .begin = iot_path_begin },
	{ COMPAT("utimes_time32", UTIMENS), .path = 1, .begin = iot_path_begin },
	{ SYSCALL("futimesat", UTIMENS), .dfd = 1, .path = 2, .begin = iot_path_begin },
	{ COMPAT("futimesat_time32", UTIMENS), .dfd = 1, .path = 2, .begin = iot_path_begin },
	{ SYSCALL("utimensat", UTIMENS), .dfd = 1, .path = 2, .flags = 4,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ COMPAT("utimensat_time32", UTIMENS), .dfd = 1, .path = 2, .flags = 4,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ SYSCALL("truncate", TRUNCATE), .path = 1, .requested = 2, .begin = iot_path_begin },
	{ SYSCALL("ftruncate", TRUNCATE), .fd = 1, .requested = 2, .begin = iot_file_begin },
	{ COMPAT("ia32_truncate64", TRUNCATE), .wide = BIT(1), .path = 1, .requested = 2,
	  .begin = iot_path_begin },
	{ COMPAT("ia32_ftruncate64", TRUNCATE), .wide = BIT(1), .fd = 1, .requested = 2,
	  .begin = iot_file_begin },
	{ CALLED("do_ftruncate", TRUNCATE, "io_ftruncate"),
	  .proto = "_ (struct file *, long, int)", .requested = 2,
	  .begin = iot_file_begin_given },
	{ SYSCALL("access", ACCESS), .path = 1, .flags2 = 2, .begin = iot_path_begin },
	{ SYSCALL("faccessat", ACCESS), .dfd = 1, .path = 2, .flags2 = 3,
	  .begin = iot_path_begin },
	{ SYSCALL("faccessat2", ACCESS), .dfd = 1, .path = 2, .flags = 4, .flags2 = 3,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ SYSCALL("getdents", READDIR), .fd = 1, .requested = 3, .begin = iot_file_begin_readdir },
	{ SYSCALL("getdents64", READDIR), .fd = 1, .requested = 3,
	  .begin = iot_file_begin_readdir },
	{ COMPAT("old_readdir", READDIR), .fd = 1, .requested = 3,
	  .begin = iot_file_begin_readdir },
	{ SYSCALL("readlink", READLINK), .path = 1, .requested = 3,
	  .lookup = IOT_LOOKUP_NOFOLLOW, .begin = iot_path_begin },
	{ SYSCALL("readlinkat", READLINK), .dfd = 1, .path = 2, .requested = 4,
	  .lookup = IOT_LOOKUP_NOFOLLOW, .begin = iot_path_begin },
	{ SYSCALL("chdir", CHDIR), .path = 1, .begin = iot_path_begin },
	{ SYSCALL("fchdir", CHDIR), .fd = 1, .begin = iot_file_begin },
#ifdef CONFIG_ARM64
	{ SYSCALL("fadvise64_64", FADVISE), .fd = 1, .flags = 4, .offset = 2, .requested = 3,
	  .begin = iot_file_begin },
	/* of 32-bit programs; a 64-bit value starts in an even register */
	{ COMPAT("aarch32_fadvise64_64", FADVISE), .wide = BIT(2) | BIT(3), .fd = 1, .flags = 2,
	  .offset = 3, .requested = 4, .begin = iot_file_begin },
	{ COMPAT("aarch32_readahead", FADVISE), .wide = BIT(2), .fd = 1, .offset = 3,
	  .requested = 4, .begin = iot_file_begin_readahead },
	{ COMPAT("aarch32_sync_file_range2", SYNC_FILE_RANGE), .wide = BIT(2) | BIT(3), .fd = 1,
	  .flags = 2, .offset = 3, .requested = 4, .begin = iot_file_begin },
	{ COMPAT("aarch32_mmap2", MMAP), .flags = 4, .flags2 = 3, .offset = 6, .requested = 2,
	  .wants = iot_map_wants, .begin = iot_map_begin_pages, .end = iot_map_end },
	{ COMPAT("aarch32_truncate64", TRUNCATE), .wide = BIT(2), .path = 1, .requested = 3,
	  .begin = iot_path_begin },
	{ COMPAT("aarch32_ftruncate64", TRUNCATE), .wide = BIT(2), .fd = 1, .requested = 3,
	  .begin = iot_file_begin },
	{ COMPAT("aarch32_fallocate", FALLOCATE), .wide = BIT(2) | BIT(3), .fd = 1, .flags = 2,
	  .offset = 3, .requested = 4, .begin = iot_file_begin },
	{ COMPAT("aarch32_statfs64", STATFS), .path = 1, .begin = iot_path_begin },
	{ COMPAT("aarch32_fstatfs64", STATFS), .fd = 1, .begin = iot_file_begin },
	{ COMPAT("stat64", GETATTR), .path = 1, .begin = iot_path_begin },
	{ COMPAT("lstat64", GETATTR), .path = 1, .lookup = IOT_LOOKUP_NOFOLLOW,
	  .extra = AT_SYMLINK_NOFOLLOW, .begin = iot_path_begin },
	{ COMPAT("fstat64", GETATTR), .fd = 1, .begin = iot_file_begin },
	{ COMPAT("fstatat64", GETATTR), .dfd = 1, .path = 2, .flags = 4,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
#endif
	{ FUNCTION("do_unlinkat", UNLINK),
	  .proto = "int (int, struct filename *)", .newer = "filename_unlinkat",
	  .begin = iot_path_begin_remove },
	{ FUNCTION("do_rmdir", RMDIR),
	  .proto = "int (int, struct filename *)", .newer = "filename_rmdir",
	  .begin = iot_path_begin_remove },
	{ FUNCTION("do_renameat2", RENAME),
	  .proto = "int (int, struct filename *, int, struct filename *, int)",
	  .newer = "filename_renameat2",
	  .flags = 5, .begin = iot_path_begin_rename,
	  .end = iot_path_end_rename },
	{ FUNCTION("do_linkat", LINK),
	  .proto = "int (int, struct filename *, int, struct filename *, int)",
	  .newer = "filename_linkat",
	  .flags = 5, .begin = iot_path_begin_link,
	  .end = iot_path_end_link },
	{ FUNCTION("do_symlinkat", SYMLINK),
	  .proto = "int (struct filename *, int, struct filename *)",
	  .newer = "filename_symlinkat",
	  .begin = iot_path_begin_symlink,
	  .end = iot_path_end_new },
	{ FUNCTION("do_mkdirat", MKDIR),
	  .proto = "int (int, struct filename *, short)", .newer = "filename_mkdirat",
	  .flags2 = 3, .begin = iot_path_begin_mkdir,
	  .end = iot_path_end_new },
	{ SYSCALL("mknod", MKNOD), .path = 1, .flags2 = 2, .begin = iot_path_begin_mknod,
	  .end = iot_path_end_new },
	{ SYSCALL("mknodat", MKNOD), .dfd = 1, .path = 2, .flags2 = 3,
	  .begin = iot_path_begin_mknod, .end = iot_path_end_new },
	{ FUNCTION("unix_bind", MKNOD), .optional = !IS_BUILTIN(CONFIG_UNIX),
	  .proto = "int (struct socket *, struct sockaddr *, int) | int (struct socket *, struct sockaddr_unsized *, int)",
	  .wants = iot_socket_wants_bind, .begin = iot_socket_begin_bind,
	  .end = iot_socket_end_bind },
	{ SYSCALL("fallocate", FALLOCATE), .fd = 1, .flags = 2, .offset = 3, .requested = 4,
	  .begin = iot_file_begin },
	{ COMPAT("ia32_fallocate", FALLOCATE), .wide = BIT(2) | BIT(3), .fd = 1, .flags = 2,
	  .offset = 3, .requested = 4, .begin = iot_file_begin },
	{ CALLED("vfs_fallocate", FALLOCATE, "io_fallocate"),
	  .proto = "int (struct file *, int, long, long)", .flags = 2, .offset = 3,
	  .requested = 4, .begin = iot_file_begin_given },
	{ SYSCALL("sendfile64", SENDFILE), .unbounded = true, .requested = 4,
	  .begin = iot_file_begin_sendfile },
	{ COMPAT("sendfile", SENDFILE), .unbounded = true, .requested = 4,
	  .begin = iot_file_begin_sendfile },
	{ FUNCTION("splice_direct_to_actor", READ),
	  .proto = "long (struct file *, struct splice_desc *, function *)",
	  .wants = iot_file_wants_served,
	  .begin = iot_file_begin_served },
	{ SYSCALL("splice", SPLICE), .unbounded = true, .flags = 6, .requested = 5,
	  .begin = iot_file_begin_splice },
	{ CALLED("do_splice", SPLICE, "io_splice"),
	  .proto = "long (struct file *, long *, struct file *, long *, long, int)",
	  .unbounded = true, .flags = 6,
	  .requested = 5, .begin = iot_file_begin_splice_files },
	{ SYSCALL("tee", TEE), .unbounded = true, .flags = 4, .requested = 3,
	  .begin = iot_file_begin_tee },
	{ CALLED("do_tee", TEE, "io_tee"),
	  .proto = "long (struct file *, struct file *, long, int)",
	  .unbounded = true, .flags = 4, .requested = 3,
	  .begin = iot_file_begin_tee_files },
	{ SYSCALL("vmsplice", VMSPLICE), .unbounded = true, .fd = 1, .flags = 4,
	  .begin = iot_file_begin },
	{ SYSCALL("copy_file_range", COPY_FILE_RANGE), .flags = 6, .requested = 5,
	  .begin = iot_file_begin_copy },
	{ SYSCALL("ioctl", CLONE), .wants = iot_ioctl_wants, .begin = iot_ioctl_begin },
	{ FUNCTION("vfs_dedupe_file_range", DEDUPE),
	  .proto = "int (struct file *, struct file_dedupe_range *)",
	  .begin = iot_ioctl_begin_dedupe, .end = iot_ioctl_end_dedupe },
	{ SYSCALL("statfs", STATFS), .path = 1, .begin = iot_path_begin },
	{ COMPAT("statfs64", STATFS), .path = 1, .begin = iot_path_begin },
	{ SYSCALL("fstatfs", STATFS), .fd = 1, .begin = iot_file_begin },
	{ COMPAT("fstatfs64", STATFS), .fd = 1, .begin = iot_file_begin },
	{ SYSCALL("getxattr", GETXATTR), .path = 1, .requested = 4, .begin = iot_path_begin },
	{ SYSCALL("lgetxattr", GETXATTR), .path = 1, .requested = 4,
	  .lookup = IOT_LOOKUP_NOFOLLOW, .begin = iot_path_begin },
	{ SYSCALL("fgetxattr", GETXATTR), .fd = 1, .requested = 4, .begin = iot_file_begin },
	{ SYSCALL("setxattr", SETXATTR), .path = 1, .flags = 5, .requested = 4,
	  .begin = iot_path_begin },
	{ SYSCALL("lsetxattr", SETXATTR), .path = 1, .flags = 5, .requested = 4,
	  .lookup = IOT_LOOKUP_NOFOLLOW, .begin = iot_path_begin },
	{ SYSCALL("fsetxattr", SETXATTR), .fd = 1, .flags = 5, .requested = 4,
	  .begin = iot_file_begin },
	{ SYSCALL("listxattr", LISTXATTR), .path = 1, .requested = 3, .begin = iot_path_begin },
	{ SYSCALL("llistxattr", LISTXATTR), .path = 1, .requested = 3,
	  .lookup = IOT_LOOKUP_NOFOLLOW, .begin = iot_path_begin },
	{ SYSCALL("flistxattr", LISTXATTR), .fd = 1, .requested = 3, .begin = iot_file_begin },
	{ SYSCALL("removexattr", REMOVEXATTR), .path = 1, .begin = iot_path_begin },
	{ SYSCALL("lremovexattr", REMOVEXATTR), .path = 1, .lookup = IOT_LOOKUP_NOFOLLOW,
	  .begin = iot_path_begin },
	{ SYSCALL("fremovexattr", REMOVEXATTR), .fd = 1, .begin = iot_file_begin },
	{ SYSCALL("getxattrat", GETXATTR), .dfd = 1, .path = 2, .flags = 3, .lookup = IOT_LOOKUP_AT,
	  .begin = iot_path_begin_xattrat },
	{ SYSCALL("setxattrat", SETXATTR), .dfd = 1, .path = 2, .flags = 3, .lookup = IOT_LOOKUP_AT,
	  .begin = iot_path_begin_xattrat },
	{ SYSCALL("listxattrat", LISTXATTR), .dfd = 1, .path = 2, .flags = 3, .requested = 5,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ SYSCALL("removexattrat", REMOVEXATTR), .dfd = 1, .path = 2, .flags = 3,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_path_begin },
	{ FUNCTION("io_getxattr", GETXATTR), .optional = true, .proto = URING_PROTO,
	  .begin = iot_uring_begin_xattr, .end = iot_uring_end_xattr },
	{ FUNCTION("io_fgetxattr", GETXATTR), .optional = true, .proto = URING_PROTO,
	  .begin = iot_uring_begin_fxattr, .end = iot_uring_end_xattr },
	{ FUNCTION("io_setxattr", SETXATTR), .optional = true, .proto = URING_PROTO,
	  .begin = iot_uring_begin_xattr, .end = iot_uring_end_xattr },
	{ FUNCTION("io_fsetxattr", SETXATTR), .optional = true, .proto = URING_PROTO,
	  .begin = iot_uring_begin_fxattr, .end = iot_uring_end_xattr },
	{ SYSCALL("flock", LOCK), .unbounded = true, .fd = 1, .begin = iot_file_begin_flock },
	{ FUNCTION("fcntl_setlk", LOCK),
	  .proto = "int (int, struct file *, int, struct flock *)",
	  .unbounded = true, .begin = iot_file_begin_setlk },
	{ SYSCALL("execve", PROCESS_EXEC), .path = 1, .begin = iot_exec_begin,
	  .end = iot_exec_end },
	{ SYSCALL("execveat", PROCESS_EXEC), .dfd = 1, .path = 2, .flags = 5,
	  .lookup = IOT_LOOKUP_AT, .begin = iot_exec_begin, .end = iot_exec_end },
	{ FUNCTION("kernel_execve", PROCESS_EXEC),
	  .proto = "int (char *, char **, char **)", .begin = iot_exec_begin_kernel,
	  .end = iot_exec_end },
	{ FUNCTION("taskstats_exit", PROCESS_EXIT),
	  .proto = "void (struct task_struct *, int)", .wants = iot_exit_wants,
	  .begin = iot_exit_begin },
};

/* The tag of a site: how it gets its arguments. */
enum abi {
	ABI_FUNCTION,
	ABI_NATIVE,
	ABI_COMPAT,
};

static const struct {
	const char *text;
	enum abi abi;
} prefixes[] = {
#ifdef IOT_ARCH_KNOWN
	{ IOT_SYSCALL, ABI_NATIVE },
	{ IOT_SYSCALL_COMPAT, ABI_COMPAT },
#endif
#ifdef IOT_SYSCALL_32
	{ IOT_SYSCALL_32, ABI_COMPAT },
#endif
};

/* Address range of each entry's @caller, by index in @calls. */
static struct {
	unsigned long begin;
	unsigned long end;
} callers[ARRAY_SIZE(calls)];

#define MAX_SITES	(3 * ARRAY_SIZE(calls))

static struct iot_site sites[MAX_SITES];
static char symbols[MAX_SITES][48];	/* names of sites that are found by name */
static unsigned int nr_sites;

static int wanted_ioctl(void)
{
	static const u8 ops[] = { IOT_FS_IOCTL, IOT_FS_SETFLAGS, IOT_FS_FALLOCATE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		if (iot_fs_wants_op(ops[i]))
			return ops[i];
	return -1;
}

/* Return: an operation that the call may turn out to be and that is wanted, or -1. */
static int wanted_op(const struct iot_call *c)
{
	if (iot_fs_wants_op(c->op))
		return c->op;
	if (c->op == IOT_FS_OPEN && iot_fs_wants_op(IOT_FS_CREATE))
		return IOT_FS_CREATE;
	if (c->op == IOT_FS_FSYNC && c->function && iot_fs_wants_op(IOT_FS_FDATASYNC))
		return IOT_FS_FDATASYNC;
	if (c->flushes && iot_flush_is_in(c) && iot_fs_wants_op(IOT_FS_FLUSH))
		return IOT_FS_FLUSH;
	if (c->begin == iot_ioctl_begin)
		return wanted_ioctl();
	return -1;
}

/* Join the two halves of each 64-bit value that a 32-bit program passes in two arguments. */
static void join_halves(u64 *a, u8 wide)
{
	unsigned int to, from = 0;
	u64 raw[6];

	memcpy(raw, a, sizeof(raw));
	for (to = 0; to < 6 && from < 6; to++, from++) {
		a[to] = raw[from];
		if ((wide & BIT(to)) && from < 5)
			a[to] |= raw[++from] << 32;
	}
}

static void load_args(u64 *a, const struct iot_site *site, const unsigned long *args,
		      unsigned int nr)
{
	const struct iot_call *c = site->data;
	const struct pt_regs *regs = (const struct pt_regs *)args[0];
	unsigned int i;

	switch ((enum abi)site->tag) {
	case ABI_FUNCTION:
		for (i = 0; i < 6; i++)
			a[i] = i < nr ? args[i] : 0;
		break;
	case ABI_NATIVE:
		iot_syscall_args(a, regs, false);
		break;
	case ABI_COMPAT:
		iot_syscall_args(a, regs, true);
		if (c->wide)
			join_halves(a, c->wide);
		break;
	}
}

static bool is_called_by(const struct iot_call *c, unsigned long address)
{
	unsigned int i = c - calls;

	return address >= callers[i].begin && address < callers[i].end;
}

static bool wants_with(const struct iot_site *site, const unsigned long *args,
		       unsigned int nr, unsigned long caller)
{
	const struct iot_call *c = site->data;
	u64 a[6];

	if (iot_fs_off() || (c->caller && caller && is_called_by(c, caller) == c->except))
		return false;
	if (!iot_category_wants(&iot_category_fs, IOT_ANY_OP) || wanted_op(c) < 0)
		return false;
	if (!c->wants)
		return true;
	load_args(a, site, args, nr);
	return c->wants(a);
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	return wants_with(site, args, IOT_CALL_ARGS, caller) ? IOT_HOOK_FOLLOW : IOT_HOOK_IGNORE;
}

static u64 field(const struct iot_frame *f, u8 number)
{
	return number ? iot_frame_arg(f, number) : 0;
}

/* Free all that the frame holds. */
static void forget(struct iot_frame *f)
{
	iot_pieces_free(f);
	if (!f->may_sleep)
		return;
	kfree(f->name[0].text);
	kfree(f->name[1].text);
	kvfree(f->ranges);
	if (f->held.dentry)
		path_put(&f->held);
	if (f->made.dentry)
		path_put(&f->made);
}

/* End what precedes the call. */
static void drop(struct iot_frame *f)
{
	iot_inside_end(f);
	forget(f);
}

/* Fill in the call and its arguments. Return: false if the call is not wanted. */
static bool set_up(struct iot_frame *f, const struct iot_site *site, const unsigned long *args,
		   unsigned int nr, bool may_sleep)
{
	const struct iot_call *c = site->data;
	int op = wanted_op(c);

	if (op < 0 || !iot_fs_begin(&f->e, op))
		return false;
	memset((char *)f + sizeof(f->e), 0, sizeof(*f) - sizeof(f->e));
	f->call = c;
	f->compat = site->tag == ABI_COMPAT;
	f->may_sleep = may_sleep;
	load_args(f->a, site, args, nr);
	return true;
}

/* Do what precedes the call. Return: false if the call is not wanted. */
static bool prepare(struct iot_frame *f)
{
	const struct iot_call *c = f->call;

	f->e.op = c->op;
	f->e.flags = (field(f, c->flags) & ~IOT_CALL_COMMON) | c->extra;
	f->e.flags2 = field(f, c->flags2);
	f->e.offset = field(f, c->offset);
	f->e.requested = field(f, c->requested);
	if (c->begin(f))
		return true;
	drop(f);
	return false;
}

static bool begin(struct iot_frame *f, const struct iot_site *site,
		  const unsigned long *args, unsigned int nr, bool may_sleep)
{
	bool wanted;

	if (!set_up(f, site, args, nr, may_sleep))
		return false;
	wanted = prepare(f);
	if (f->unread && may_sleep) { /* start again after the call: finish() */
		if (wanted)
			drop(f);
		f->late = set_up(f, site, args, nr, true);
		return f->late;
	}
	if (wanted && f->pieces) /* the time to find the pieces does not belong to the call */
		f->e.time = ktime_get_mono_fast_ns();
	return wanted;
}

/*
 * Has the call opened a file, which is the one that it means? Or has it to be made again, and so is
 * no event yet: io_uring's open that would have to wait.
 */
static bool tells_itself(const struct iot_frame *f, s64 result)
{
	return f->call->op == IOT_FS_OPEN &&
	       (!IS_ERR_VALUE((unsigned long)result) || (f->call->function && result == -EAGAIN));
}

static void finish(struct iot_frame *f, s64 result)
{
	if (f->call->function && !f->call->pointer)
		result = (s32)result;
	f->result = result;
	if (f->late && !prepare(f)) /* what the call was given is in memory now */
		return;
	iot_inside_end(f);
	if (f->unknown && !tells_itself(f, result) && !iot_name_settle(f, result)) {
		forget(f);
		return;
	}
	if (f->call->end) {
		f->call->end(f, result);
	} else {
		if (!f->found) /* else the file is that of the name that the call has read */
			iot_name_check(f, &f->name[0]);
		iot_pieces_end(f, result);
	}
	forget(f);
}

static s64 call(const struct iot_site *site, unsigned long *args)
{
	struct iot_frame f;
	s64 result;

	if (!begin(&f, site, args, IOT_CALL_ARGS, true))
		return IOT_HOOK_PASS_THROUGH;
	result = iot_hook_call(args, site->entry);
	finish(&f, result);
	return result;
}

static int probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct iot_site *site = iot_site_of(ri);
	unsigned long args[6], caller = 0;

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	/*
	 * If the kretprobe is not armed, the ftrace handler has checked the caller. The stack may
	 * then hold the address of another tracer's trampoline instead.
	 */
	if (site->armed)
		caller = iot_caller_of(regs);
	if (!wants_with(site, args, ARRAY_SIZE(args), caller))
		return 1;
	return !begin((struct iot_frame *)ri->data, site, args, ARRAY_SIZE(args), false);
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	finish((struct iot_frame *)ri->data, (s64)regs_return_value(regs));
	return 0;
}

static struct iot_hook_set set = {
	.sites = sites,
	.wants = wants,
	.call = call,
	.entry = probe_entry,
	.exit = probe_exit,
	.data_size = sizeof(struct iot_frame),
};

static const char *op_name(const struct iot_call *c)
{
	return iot_names_op(IOT_EVENT_ID_FS, c->op)->name;
}

static void add_site(const struct iot_call *c, const char *symbol, unsigned long addr,
		     enum abi abi)
{
	struct iot_site *site = &sites[nr_sites];

	if (nr_sites == MAX_SITES)
		return;
	site->symbol = c->name;
	if (addr) { /* before any site is dropped */
		strscpy(symbols[nr_sites], symbol, sizeof(symbols[nr_sites]));
		site->symbol = symbols[nr_sites];
	}
	site->what = op_name(c);
	site->proto = c->proto;
	site->addr = addr;
	site->error = addr ? 0 : -ENOENT;
	site->data = c;
	site->tag = abi;
	site->unbounded = c->unbounded;
	nr_sites++;
}

static void add_syscall(const char *symbol, const char *name, unsigned long addr, enum abi abi)
{
	/* on arm64, 32-bit programs have some calls that 64-bit programs do not have */
	bool is_compat = abi == ABI_COMPAT || IS_ENABLED(CONFIG_ARM64);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (!calls[i].function && (is_compat || !calls[i].compat) &&
		    !strcmp(calls[i].name, name))
			add_site(&calls[i], symbol, addr, abi);
}

/* Address of the @caller that ends where the next function begins, or 0. */
static unsigned long open_caller;

static void note_caller(const char *name, unsigned long addr)
{
	bool ends = open_caller && addr > open_caller;
	unsigned int i;

	for (i = 0; ends && i < ARRAY_SIZE(calls); i++)
		if (callers[i].begin == open_caller)
			callers[i].end = addr;
	if (ends)
		open_caller = 0;
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (!calls[i].caller || strcmp(calls[i].caller, name))
			continue;
		callers[i].begin = addr;
		open_caller = addr;
	}
}

static void add_function(const char *name, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].function && (!strcmp(calls[i].name, name) ||
					  (calls[i].newer && !strcmp(calls[i].newer, name))))
			add_site(&calls[i], name, addr, ABI_FUNCTION);
}

/* Called for the kernel's symbols in the order of their addresses. */
static void see_symbol(const char *name, unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t len = strlen(prefixes[i].text);

		if (!strncmp(name, prefixes[i].text, len)) {
			add_syscall(name, name + len, addr, prefixes[i].abi);
			return;
		}
	}
	note_caller(name, addr);
	add_function(name, addr);
}

static bool has_site(const char *symbol)
{
	unsigned int i;

	for (i = 0; i < nr_sites; i++)
		if (sites[i].addr && !strcmp(sites[i].symbol, symbol))
			return true;
	return false;
}

/* Does the kernel have the function that this site replaces? */
static bool is_replaced(const struct iot_site *site)
{
	const struct iot_call *c = site->data;

	if (c->instead && has_site(c->instead))
		return true;
	return c->newer && !strcmp(site->symbol, c->name) && has_site(c->newer);
}

/*
 * Drop each function that replaces another one which the kernel has. A function that is missing
 * is reported, unless it is optional, a replacement, or called by io_uring only.
 */
static void choose_functions(void)
{
	unsigned int i;

	for (i = 0; i < nr_sites; i++) {
		if (is_replaced(&sites[i]))
			sites[i--] = sites[--nr_sites];
	}
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct iot_call *c = &calls[i];

		if (c->function && !c->caller && !c->instead && !c->optional &&
		    !has_site(c->name) && !(c->newer && has_site(c->newer)))
			add_site(c, c->name, 0, ABI_FUNCTION);
	}
}

/*
 * If close(2) may flush where no hook sees it, say so as for a function that is missing, with one
 * missed call, as their true number is unknown.
 */
static void find_flush(void)
{
	static const struct iot_call flush = { FUNCTION("filp_flush", FLUSH) };

	if (iot_flush_look() || nr_sites == MAX_SITES)
		return;
	pr_err("close(2) of this kernel is not understood: FLUSH may not be traced there\n");
	add_site(&flush, flush.name, 0, ABI_FUNCTION);
	sites[nr_sites - 1].missed = 1;
}

static int find_functions(void)
{
	int err;

	if (nr_sites)
		return 0;
	err = iot_symbol_each(see_symbol);
	if (!err && !nr_sites)
		err = -EOPNOTSUPP;
	if (err) {
		pr_err("the system call table of this kernel was not found: category fs has reads and writes only\n");
		return err;
	}
	choose_functions();
	find_flush();
	iot_ioctl_look();
	iot_map_look();
	iot_uring_look();
	iot_open_look();
	set.nr = nr_sites;
	return 0;
}

/* Is any call followed by a wrapper? Only then something is looked for inside the calls. */
static bool has_wrappers(void)
{
	unsigned int i;

	for (i = 0; i < nr_sites; i++)
		if (sites[i].mechanism == IOT_HOOK_REDIRECT)
			return true;
	return false;
}

/**
 * iot_fs_calls_start() - hook all functions of the table
 *
 * Context: task, may sleep for seconds; the category's mutex @control is held.
 */
int iot_fs_calls_start(void)
{
	int err = find_functions();

	if (err)
		return err;
	err = iot_hook_set_attach(&set);
	if (err)
		return err;
	err = has_wrappers() ? iot_inside_start() : 0;
	if (err)
		iot_hook_set_detach(&set);
	return err;
}

/** iot_fs_calls_stop() - unhook the functions, after iot_fs_calls_start() has returned 0 */
void iot_fs_calls_stop(void)
{
	iot_hook_set_detach(&set);
	iot_inside_stop();
	iot_kernel_forget();
}

/** iot_fs_calls_missed() - count the calls that could not be followed */
unsigned long iot_fs_calls_missed(void)
{
	return iot_hook_set_missed(&set);
}

#endif /* IOT_WITHOUT_FS_CALLS */
