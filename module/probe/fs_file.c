// SPDX-License-Identifier: GPL-2.0
/*
 * Calls on descriptors and open files.
 *
 * The file of a descriptor is looked up before the call. No reference to it is held over the
 * call, so that close() still releases the file. A call on a descriptor that is not open is an
 * event without a file.
 *
 * Contexts: task; a wrapper may sleep, a kretprobe's handler may not.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/close_range.h>
#include <linux/fadvise.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/sched.h>
#include <linux/splice.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "probe/fs_frame.h"
#include "probe/inner.h"

/**
 * iot_file_resolve() - record the file of a descriptor
 *
 * Return: false if the filter does not want the file.
 */
bool iot_file_resolve(struct iot_frame *f, int fd)
{
	struct file *file = fget_raw(fd);
	bool wanted;

	f->e.fd = fd;
	if (!file)
		return true;
	wanted = iot_fs_file(&f->e, &file->f_path, f->may_sleep);
	fput(file);
	return wanted;
}

bool iot_file_begin(struct iot_frame *f)
{
	return iot_file_resolve(f, (int)iot_frame_arg(f, f->call->fd));
}

/* The first argument of the function is the open file. */
bool iot_file_begin_given(struct iot_frame *f)
{
	const struct file *file = (const struct file *)f->a[0];

	return iot_fs_file(&f->e, &file->f_path, f->may_sleep);
}

/* getdents() and old_readdir(): the offset is the position in the directory */
bool iot_file_begin_readdir(struct iot_frame *f)
{
	struct file *file = fget_raw((int)f->a[0]);

	if (file) {
		f->e.offset = file->f_pos;
		fput(file);
	}
	return iot_file_begin(f);
}

/* readahead(fd, offset, count): recorded as the advice POSIX_FADV_WILLNEED */
bool iot_file_begin_readahead(struct iot_frame *f)
{
	f->e.flags = POSIX_FADV_WILLNEED;
	return iot_file_begin(f);
}

/* sync(): an event without a file */
bool iot_file_begin_sync(struct iot_frame *f)
{
	return true;
}

/* A function of system calls, too: calls of the kernel's own threads are events of their own. */
bool iot_file_wants_kernels(const u64 *a)
{
	return current->flags & PF_KTHREAD;
}

/* vfs_fsync(file, datasync), for a loop device, or for io_submit(2) */
bool iot_file_begin_vfs_fsync(struct iot_frame *f)
{
	if (f->a[1])
		f->e.op = IOT_FS_FDATASYNC;
	return iot_fs_wants_op(f->e.op) && iot_file_begin_given(f);
}

/* vfs_fsync_range(file, start, end, datasync) of io_uring */
bool iot_file_begin_fsync(struct iot_frame *f)
{
	if (f->a[3])
		f->e.op = IOT_FS_FDATASYNC;
	f->e.offset = f->a[1];
	if ((s64)f->a[2] != LLONG_MAX)
		f->e.requested = f->a[2] - f->a[1];
	return iot_fs_wants_op(f->e.op) && iot_file_begin_given(f);
}

/*
 * __fput(file). What is open below a file of overlayfs, for the calls on that file, has no OPEN,
 * and so no RELEASE. Neither has the block device of a filesystem, whose inodes are on a superblock
 * of their own.
 */
bool iot_file_wants_release(const u64 *a)
{
	const struct file *file = (const struct file *)a[0];

	if (!(file->f_mode & FMODE_OPENED) || iot_file_is_backing(file))
		return false;
	return !(file->f_mode & FMODE_NOACCOUNT) || !(file_inode(file)->i_sb->s_flags & SB_NOUSER);
}

bool iot_file_begin_release(struct iot_frame *f)
{
	const struct file *file = (const struct file *)f->a[0];

	f->e.flags = iot_open_flags(file->f_flags) | iot_kernel_release_flags(file);
	return iot_file_begin_given(f);
}

static bool is_flushed(const struct file *file)
{
	return file->f_op->flush && !iot_file_is_backing(file);
}

/* filp_flush(file, owner): wanted only if the filesystem has a ->flush */
bool iot_file_wants_flush(const u64 *a)
{
	return is_flushed((const struct file *)a[0]);
}

bool iot_file_begin_close(struct iot_frame *f)
{
	int fd = (int)iot_frame_arg(f, f->call->fd);
	struct file *file = fget_raw(fd);
	bool wanted;

	f->e.fd = fd;
	f->flushes = file && iot_flush_is_in(f->call) && is_flushed(file);
	wanted = f->flushes || iot_fs_wants_op(IOT_FS_CLOSE);
	if (file) {
		wanted = wanted && iot_fs_file(&f->e, &file->f_path, f->may_sleep);
		fput(file);
	}
	return wanted;
}

/* filp_close(file, owner) of io_uring */
bool iot_file_begin_close_given(struct iot_frame *f)
{
	const struct file *file = (const struct file *)f->a[0];

	f->flushes = iot_flush_is_in(f->call) && is_flushed(file);
	return (f->flushes || iot_fs_wants_op(IOT_FS_CLOSE)) && iot_file_begin_given(f);
}

/*
 * The result is that of ->flush. If close(2) returns -EBADF, it is not known whether that is
 * ->flush's, or another thread has closed the descriptor before.
 */
void iot_file_end_close(struct iot_frame *f, s64 result)
{
	const u64 now = ktime_get_mono_fast_ns();
	struct iot_fs flush;

	if (f->flushes && f->call->fd && result == -EBADF) {
		iot_fs_count_missed();
	} else if (f->flushes) {
		flush = f->e;
		flush.op = IOT_FS_FLUSH;
		flush.fd = -1;
		iot_fs_end_at(&flush, result, now);
	}
	iot_fs_end_at(&f->e, result, now);
}

/* dup2(old, new), dup3(): close new if it is open */
bool iot_file_wants_dup(const u64 *a)
{
	return (int)a[0] != (int)a[1];
}

bool iot_file_begin_dup(struct iot_frame *f)
{
	struct file *file = fget_raw((int)f->a[1]);

	if (!file)
		return false;
	fput(file);
	return iot_file_resolve(f, (int)f->a[1]);
}

void iot_file_end_dup(struct iot_frame *f, s64 result)
{
	if (result >= 0)
		iot_fs_end(&f->e, 0);
}

/*
 * Find the first open descriptor from @fd to @last. Another thread may close it at any time.
 * Return: the descriptor, or a number above INT_MAX if there is none.
 */
static unsigned int next_descriptor(unsigned int fd, unsigned int last)
{
	const struct fdtable *fdt;
	unsigned int end;

	rcu_read_lock();
	fdt = rcu_dereference_raw(current->files->fdt);
	end = min(fdt->max_fds - 1, last) + 1;
	fd = fd < end ? find_next_bit(fdt->open_fds, end, fd) : end;
	rcu_read_unlock();
	return fd < end ? fd : UINT_MAX;
}

/* close_range(first, last, flags): one event for each descriptor */
bool iot_file_begin_close_range(struct iot_frame *f)
{
	const struct iot_fs template = f->e;
	unsigned int fd = f->a[0], last = f->a[1];
	struct iot_fs e;
	bool any = false;
	struct file *file;

	if ((u32)f->a[2] & CLOSE_RANGE_CLOEXEC)
		return false; /* the descriptors are closed later, by exec */
	for (; (fd = next_descriptor(fd, last)) <= INT_MAX; fd++) {
		if (f->may_sleep)
			cond_resched();
		file = fget_raw(fd);
		if (!file)
			continue;
		e = template;
		e.fd = fd;
		if (iot_fs_file(&e, &file->f_path, f->may_sleep)) {
			if (any)
				iot_piece_add(f, &e);
			else
				f->e = e;
			any = true;
		}
		fput(file);
	}
	return any;
}

/* flock(fd, operation), recorded in the same form as the locks of fcntl() */
bool iot_file_begin_flock(struct iot_frame *f)
{
	u32 operation = f->a[1];

	f->e.flags = operation & LOCK_NB;
	switch (operation & ~LOCK_NB) {
	case LOCK_SH:
		f->e.flags2 = F_RDLCK;
		break;
	case LOCK_EX:
		f->e.flags2 = F_WRLCK;
		break;
	case LOCK_UN:
		f->e.flags2 = F_UNLCK;
		break;
	default:
		f->e.flags2 = operation;
	}
	return iot_file_begin(f);
}

/* fcntl_setlk(fd, file, command, lock), for 32-bit and 64-bit programs */
bool iot_file_begin_setlk(struct iot_frame *f)
{
	const struct file *file = (const struct file *)f->a[1];
	const struct flock *lock = (const struct flock *)f->a[3];

	f->e.fd = (int)f->a[0];
	f->e.flags = f->a[2];
	f->e.flags2 = lock->l_type;
	f->e.offset = lock->l_start;
	f->e.requested = lock->l_len;
	return iot_fs_file(&f->e, &file->f_path, f->may_sleep);
}

/**
 * iot_file_resolve_two() - record both files of a transfer
 *
 * Its kind of file is that of the first file that is wanted. Return: false if the filter wants
 * neither.
 */
bool iot_file_resolve_two(struct iot_frame *f, struct file *in, struct file *out)
{
	struct iot_fs *e = &f->e;
	struct iot_fs first;

	if (!in || !out)
		return !in || iot_fs_file(e, &in->f_path, f->may_sleep);
	if (iot_fs_file(e, &in->f_path, f->may_sleep)) {
		iot_fs_file2(e, &out->f_path, f->may_sleep);
		return true;
	}
	if (!iot_fs_file(e, &out->f_path, f->may_sleep))
		return false;
	first = *e;
	iot_fs_file2(e, &in->f_path, f->may_sleep);
	e->path = e->path2;
	e->inode = e->inode2;
	e->device = e->device2;
	e->path2 = first.path;
	e->inode2 = first.inode;
	e->device2 = first.device;
	return true;
}

static bool is_pipe(const struct file *file)
{
	return S_ISFIFO(file_inode(file)->i_mode);
}

/** iot_file_resolve_fds() - as above, for two descriptors; the record's is @fd_in */
bool iot_file_resolve_fds(struct iot_frame *f, int fd_in, int fd_out)
{
	struct file *in = fget_raw(fd_in), *out = fget_raw(fd_out);
	bool wanted = iot_file_resolve_two(f, in, out);

	f->e.fd = fd_in;
	if (in)
		fput(in);
	if (out)
		fput(out);
	return wanted;
}

/*
 * The offset that a call uses: the one in user memory, or else the position of the open file. After
 * the call, either is behind what was transferred.
 */
static u64 offset_of(struct iot_frame *f, u64 user, int fd)
{
	size_t size = f->compat && f->call->compat ? 4 : 8;
	struct file *file;
	u64 offset = 0;

	if (user) {
		if (!iot_frame_read(f, &offset, user, size))
			return 0;
	} else {
		file = fget_raw(fd);
		if (!file || is_pipe(file)) {
			if (file)
				fput(file);
			return 0;
		}
		offset = file->f_pos;
		fput(file);
	}
	return f->late && f->result > 0 ? offset - f->result : offset;
}

/*
 * splice_direct_to_actor(in, descriptor, actor): the NFS server reads with it. Calls made for
 * system calls are events already. A read that calls ->read_iter is recorded there, see
 * do_splice_read() in fs/splice.c.
 */
bool iot_file_wants_served(const u64 *a)
{
	const struct file *in = (const struct file *)a[0];

	return (current->flags & PF_KTHREAD) && !(in->f_flags & O_DIRECT) &&
	       !IS_DAX(in->f_mapping->host) && in->f_op->splice_read != iot_splice_by_read_iter;
}

bool iot_file_begin_served(struct iot_frame *f)
{
	const struct splice_desc *sd = (const struct splice_desc *)f->a[1];

	f->e.offset = sd->pos;
	f->e.requested = sd->total_len;
	f->e.flags = iot_inner_flags();
	return iot_file_begin_given(f);
}

/* sendfile(out, in, offset, count) */
bool iot_file_begin_sendfile(struct iot_frame *f)
{
	f->e.offset = offset_of(f, f->a[2], (int)f->a[1]);
	return iot_file_resolve_fds(f, (int)f->a[1], (int)f->a[0]);
}

/* copy_file_range(in, offset, out, offset, length, flags) */
bool iot_file_begin_copy(struct iot_frame *f)
{
	f->e.offset = offset_of(f, f->a[1], (int)f->a[0]);
	return iot_file_resolve_fds(f, (int)f->a[0], (int)f->a[2]);
}

/* splice() has the same arguments; one file is a pipe, the other may have an offset */
bool iot_file_begin_splice(struct iot_frame *f)
{
	struct file *in = fget_raw((int)f->a[0]);

	if (in && is_pipe(in))
		f->e.offset = offset_of(f, f->a[3], (int)f->a[2]);
	else
		f->e.offset = offset_of(f, f->a[1], (int)f->a[0]);
	if (in)
		fput(in);
	return iot_file_resolve_fds(f, (int)f->a[0], (int)f->a[2]);
}

/* tee(in, out, length, flags) */
bool iot_file_begin_tee(struct iot_frame *f)
{
	return iot_file_resolve_fds(f, (int)f->a[0], (int)f->a[1]);
}

/* do_splice(in, offset, out, offset, length, flags) of io_uring */
bool iot_file_begin_splice_files(struct iot_frame *f)
{
	struct file *in = (struct file *)f->a[0], *out = (struct file *)f->a[2];
	const loff_t *offset_in = (const loff_t *)f->a[1];
	const loff_t *offset_out = (const loff_t *)f->a[3];

	if (!is_pipe(in))
		f->e.offset = offset_in ? *offset_in : in->f_pos;
	else if (!is_pipe(out))
		f->e.offset = offset_out ? *offset_out : out->f_pos;
	return iot_file_resolve_two(f, in, out);
}

bool iot_file_begin_tee_files(struct iot_frame *f)
{
	return iot_file_resolve_two(f, (struct file *)f->a[0], (struct file *)f->a[1]);
}

/* The size of a file that is cloned from an offset to its end. */
static u64 size_from(int fd, u64 offset)
{
	struct file *file = fget_raw(fd);
	u64 size = file ? i_size_read(file_inode(file)) : 0;

	if (file)
		fput(file);
	return size > offset ? size - offset : 0;
}

/* ioctl(to, FICLONE or FICLONERANGE, from) */
bool iot_file_begin_clone(struct iot_frame *f)
{
	struct file_clone_range range = { .src_fd = (int)f->a[2] };
	bool wanted;

	if ((u32)f->a[1] == FICLONERANGE && !iot_frame_read(f, &range, f->a[2], sizeof(range)))
		range.src_fd = -1;
	f->e.offset = range.src_offset;
	f->e.requested = range.src_length ?: size_from((int)range.src_fd, range.src_offset);
	wanted = iot_file_resolve_fds(f, (int)range.src_fd, (int)f->a[0]);
	f->e.fd = (int)f->a[0];
	return wanted;
}

#endif /* IOT_WITHOUT_FS_CALLS */
