// SPDX-License-Identifier: GPL-2.0
/*
 * ioctls that move, resize, create, exchange or discard data of files, or create and delete
 * subvolumes. Group ioctl of flags.def lists them; others are not recorded. Some have their own
 * operation: CLONE, DEDUPE, FALLOCATE, SETFLAGS.
 *
 * Arguments are in the program's memory. If the program changes it during the call, the recorded
 * arguments differ from those that the kernel read, which is not noticed. DEDUPE has the kernel's
 * copy.
 *
 * Contexts: task; a wrapper may sleep, a kretprobe's handler may not.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/btrfs.h>
#include <linux/falloc.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include "core/names.h"
#include "probe/fs_frame.h"

/* Commands without a header for modules: fs/xfs, fs/ext4, fs/f2fs, fs/internal.h. */
#define SETFLAGS_32	0x40046602	/* FS_IOC32_SETFLAGS */
#define MOVE_EXT	0xc028660f	/* EXT4_IOC_MOVE_EXT */
#define SWAPEXT		0xc0c0586d	/* XFS_IOC_SWAPEXT */
#define EXCHANGE_RANGE	0x40285881	/* XFS_IOC_EXCHANGE_RANGE */
#define COMMIT_RANGE	0x40585883	/* XFS_IOC_COMMIT_RANGE */

/* FS_IOC_RESVSP ... (linux/falloc.h) without direction and size: 32-bit programs have another */
#define SPACE_RESERVE	0x5828
#define SPACE_FREE	0x5829
#define SPACE_RESERVE64	0x582a
#define SPACE_FREE64	0x582b
#define SPACE_ZERO	0x5839
#define SPACE_SIZE_32	44		/* struct space_resv_32, fs/ioctl.c */

static bool is_space(u32 command)
{
	u32 size = _IOC_SIZE(command);

	switch (command & 0xffff) {
	case SPACE_RESERVE:
	case SPACE_FREE:
	case SPACE_RESERVE64:
	case SPACE_FREE64:
	case SPACE_ZERO:
		return size == sizeof(struct space_resv) || size == SPACE_SIZE_32;
	}
	return false;
}

/* Most ioctls are for devices and sockets, whose commands have other types. */
static bool may_be_listed(u32 command)
{
	switch (_IOC_TYPE(command)) {
	case 'X':
	case 'f':
	case 0x12:
	case 'L':
	case BTRFS_IOCTL_MAGIC:
	case 0xf5: /* f2fs */
		return true;
	}
	return false;
}

static struct iot_group listed;

/** iot_ioctl_look() - find the list. Context: task, before anything is hooked */
void iot_ioctl_look(void)
{
	listed = iot_names_group("ioctl");
}

/* ioctl(descriptor, command, argument) */
bool iot_ioctl_wants(const u64 *a)
{
	u32 command = a[1];

	switch (command) {
	case FICLONE:
	case FICLONERANGE:
	case FS_IOC_SETFLAGS:
	case SETFLAGS_32:
	case FS_IOC_FSSETXATTR:
		return true;
	}
	return may_be_listed(command) && (is_space(command) || iot_names_whole(&listed, command));
}

static bool read_argument(struct iot_frame *f, void *to, size_t size)
{
	return iot_frame_read(f, to, f->a[2], size);
}

/* FS_IOC_RESVSP and the like: fallocate(2) of older programs. An end of the file counts as 0. */
static bool begin_space(struct iot_frame *f)
{
	struct space_resv space = { 0 };
	u8 packed[SPACE_SIZE_32];
	u32 command = f->a[1];

	f->e.op = IOT_FS_FALLOCATE;
	switch (command & 0xffff) {
	case SPACE_FREE:
	case SPACE_FREE64:
		f->e.flags = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE;
		break;
	case SPACE_ZERO:
		f->e.flags = FALLOC_FL_KEEP_SIZE | FALLOC_FL_ZERO_RANGE;
		break;
	default:
		f->e.flags = FALLOC_FL_KEEP_SIZE;
	}
	if (_IOC_SIZE(command) == sizeof(space)) {
		read_argument(f, &space, sizeof(space));
	} else if (read_argument(f, packed, sizeof(packed))) {
		memcpy(&space.l_start, packed + 4, sizeof(space.l_start));
		memcpy(&space.l_len, packed + 12, sizeof(space.l_len));
	}
	f->e.offset = space.l_start;
	f->e.requested = space.l_len;
	return iot_file_resolve(f, (int)f->a[0]);
}

/* FS_IOC_SETFLAGS: FS_*_FL; FS_IOC_FSSETXATTR: FS_XFLAG_*, the first member of struct fsxattr */
static bool begin_setflags(struct iot_frame *f)
{
	u32 flags = 0;

	f->e.op = IOT_FS_SETFLAGS;
	read_argument(f, &flags, sizeof(flags));
	f->e.flags2 = flags;
	return iot_file_resolve(f, (int)f->a[0]);
}

static void take_range(struct iot_frame *f, size_t offset_at, size_t length_at)
{
	u64 words[16] = { 0 };

	read_argument(f, words, max(offset_at, length_at) + sizeof(u64));
	f->e.offset = words[offset_at / sizeof(u64)];
	f->e.requested = words[length_at / sizeof(u64)];
}

/* The subvolume that is made or deleted is a name in the directory of the descriptor. */
static void take_subvolume(struct iot_frame *f, size_t name_at)
{
	struct iot_name name = {
		.dfd = (int)f->a[0],
		.user = (const char __user *)f->a[2] + name_at,
	};

	iot_name_record(f, &name, true);
}

/* A block of ext4's is as large as the filesystem says. */
static int begin_move(struct iot_frame *f)
{
	struct {
		u32 reserved;
		u32 donor_fd;
		u64 orig_start;
		u64 donor_start;
		u64 length;
	} move = { 0 };
	struct file *file = fget_raw((int)f->a[0]);

	if (!read_argument(f, &move, sizeof(move)))
		move.donor_fd = -1;
	if (file) {
		f->e.offset = move.orig_start << file_inode(file)->i_blkbits;
		f->e.requested = move.length << file_inode(file)->i_blkbits;
		fput(file);
	}
	return (int)move.donor_fd;
}

/* struct xfs_exchange_range: file1_fd, offsets of file 1 and 2, length; file 2 is the call's */
static int begin_exchange(struct iot_frame *f)
{
	s32 fd = -1;

	take_range(f, 2 * sizeof(u64), 3 * sizeof(u64));
	read_argument(f, &fd, sizeof(fd));
	return fd;
}

/* struct xfs_swapext: version, target, temporary file, offset, length */
static int begin_swap(struct iot_frame *f)
{
	s64 words[5] = { -1, -1, -1 };

	read_argument(f, words, sizeof(words));
	f->e.offset = words[3];
	f->e.requested = words[4];
	return words[2];
}

/* Take the arguments that the record has room for. Return: descriptor of the second file, or -1. */
static int take_arguments(struct iot_frame *f)
{
	s32 fd = -1;

	switch ((u32)f->a[1]) {
	case FITRIM:
	case BLKDISCARD:
	case BLKSECDISCARD:
	case BLKZEROOUT:
	case BTRFS_IOC_DEFRAG_RANGE:
		take_range(f, 0, sizeof(u64));
		break;
	case BTRFS_IOC_ENCODED_READ:
	case BTRFS_IOC_ENCODED_WRITE:
		take_range(f, offsetof(struct btrfs_ioctl_encoded_io_args, offset),
			   offsetof(struct btrfs_ioctl_encoded_io_args, len));
		break;
	case BTRFS_IOC_SUBVOL_CREATE:
	case BTRFS_IOC_SNAP_CREATE:
	case BTRFS_IOC_SNAP_DESTROY:
		take_subvolume(f, offsetof(struct btrfs_ioctl_vol_args, name));
		break;
	case BTRFS_IOC_SUBVOL_CREATE_V2:
	case BTRFS_IOC_SNAP_CREATE_V2:
	case BTRFS_IOC_SNAP_DESTROY_V2:
		take_subvolume(f, offsetof(struct btrfs_ioctl_vol_args_v2, name));
		break;
	case MOVE_EXT:
		return begin_move(f);
	case EXCHANGE_RANGE:
	case COMMIT_RANGE:
		return begin_exchange(f);
	case SWAPEXT:
		return begin_swap(f);
	case LOOP_SET_FD:
	case LOOP_CHANGE_FD:
		return (int)f->a[2];
	case LOOP_CONFIGURE:
		read_argument(f, &fd, sizeof(fd));
		break;
	}
	return fd;
}

static bool begin_listed(struct iot_frame *f)
{
	int fd = (int)f->a[0], other;
	bool wanted;

	f->e.op = IOT_FS_IOCTL;
	f->e.flags2 = f->a[1];
	other = take_arguments(f);
	if (other < 0)
		return iot_file_resolve(f, fd);
	wanted = iot_file_resolve_fds(f, fd, other);
	f->e.fd = fd;
	return wanted;
}

bool iot_ioctl_begin(struct iot_frame *f)
{
	u32 command = f->a[1];

	switch (command) {
	case FICLONE:
	case FICLONERANGE:
		return iot_fs_wants_op(IOT_FS_CLONE) && iot_file_begin_clone(f);
	case FS_IOC_SETFLAGS:
	case SETFLAGS_32:
	case FS_IOC_FSSETXATTR:
		return iot_fs_wants_op(IOT_FS_SETFLAGS) && begin_setflags(f);
	}
	if (is_space(command))
		return iot_fs_wants_op(IOT_FS_FALLOCATE) && begin_space(f);
	return iot_fs_wants_op(IOT_FS_IOCTL) && begin_listed(f);
}

/*
 * vfs_dedupe_file_range(file, ranges), of ioctl(FIDEDUPERANGE): an event for each destination. The
 * ranges are the kernel's copy, where it stores the results.
 */
bool iot_ioctl_begin_dedupe(struct iot_frame *f)
{
	return true;
}

static s64 result_of(const struct file_dedupe_range_info *info, s64 error)
{
	if (error < 0)
		return error;
	if (info->status == FILE_DEDUPE_RANGE_DIFFERS)
		return -EBADE;
	return info->status < 0 ? info->status : (s64)info->bytes_deduped;
}

void iot_ioctl_end_dedupe(struct iot_frame *f, s64 result)
{
	const struct file_dedupe_range *ranges = (const struct file_dedupe_range *)f->a[1];
	struct file *from = (struct file *)f->a[0];
	const struct iot_fs template = f->e;
	const u64 now = ktime_get_mono_fast_ns();
	u32 i;

	for (i = 0; i < ranges->dest_count; i++) {
		const struct file_dedupe_range_info *info = &ranges->info[i];
		struct file *to = fget_raw((int)info->dest_fd);

		f->e = template;
		f->e.offset = ranges->src_offset;
		f->e.requested = ranges->src_length;
		if (iot_file_resolve_two(f, from, to))
			iot_fs_end_at(&f->e, result_of(info, result), now);
		if (to)
			fput(to);
	}
}

#endif /* IOT_WITHOUT_FS_CALLS */
