// SPDX-License-Identifier: GPL-2.0
/*
 * Opening files, running programs, and the end of processes.
 *
 * An event OPEN becomes CREATE if the kernel reports that this call created the file. Opening a
 * FIFO may be unbounded, as it waits for another process to open it. Such a call is recorded
 * when it begins, with result -EINPROGRESS, and passes through with nothing of ours on its
 * stack.
 *
 * Contexts: task; a wrapper may sleep, a kretprobe's handler may not.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/mm_types.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "record/rw.h"
#include "probe/fs_frame.h"
#include "probe/rw_hooks.h"

/* Does an open() with these flags follow a symbolic link in the last component? */
static enum iot_lookup lookup_of(u32 flags)
{
	if ((flags & O_NOFOLLOW) || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return IOT_LOOKUP_NOFOLLOW;
	return IOT_LOOKUP_FOLLOW;
}

static bool may_wait(const struct iot_fs *e)
{
	return e->kind == IOT_KIND_PIPE &&
	       !(e->flags & (O_NONBLOCK | O_PATH)) && (e->flags & O_ACCMODE) != O_RDWR;
}

/*
 * Record the file that the name leads to before the call. Return: false if it is not wanted,
 * or if opening it may be unbounded and the event has been recorded.
 */
static bool look_before(struct iot_frame *f, enum iot_lookup lookup)
{
	struct path path;
	bool wanted;

	if (!f->may_sleep) {
		iot_name_seal(f, &f->name[0]);
		return true;
	}
	if (iot_name_lookup(f, &f->name[0], lookup, &path))
		return true;
	wanted = iot_fs_file(&f->e, &path, true);
	path_put(&path);
	if (!wanted)
		return false;
	if (!may_wait(&f->e))
		return true;
	f->e.flags2 = 0;
	iot_name_check(f, &f->name[0]);
	if (iot_fs_wants_op(IOT_FS_OPEN))
		iot_fs_end(&f->e, -EINPROGRESS);
	return false;
}

bool iot_open_begin(struct iot_frame *f)
{
	f->name[0].dfd = f->call->dfd ? (int)iot_frame_arg(f, f->call->dfd) : AT_FDCWD;
	f->name[0].user = (const char __user *)iot_frame_arg(f, f->call->path);
	return look_before(f, lookup_of(f->e.flags));
}

/* creat(name, mode) */
bool iot_open_begin_creat(struct iot_frame *f)
{
	f->e.flags = O_CREAT | O_WRONLY | O_TRUNC;
	return iot_open_begin(f);
}

/* open_by_handle_at(mount, handle, flags): the file is known only after the call */
bool iot_open_begin_handle(struct iot_frame *f)
{
	return true;
}

static void end_as(struct iot_frame *f, bool created, s64 result)
{
	f->e.op = created ? IOT_FS_CREATE : IOT_FS_OPEN;
	if (!created)
		f->e.flags2 = 0;
	f->e.flags = iot_open_flags(f->e.flags);
	if (iot_fs_wants_op(f->e.op))
		iot_fs_end(&f->e, result);
}

static bool is_created(const struct iot_frame *f, const struct file *file)
{
	if ((f->e.flags & O_TMPFILE) == O_TMPFILE)
		return true;
	return (f->e.flags & O_CREAT) && (file->f_mode & FMODE_CREATED);
}

/*
 * No file was opened: record the file that the name led to before, or else the name. If the name
 * could not be read before the call, the name read now may be another one.
 */
static void record_failed(struct iot_frame *f, struct iot_name *n)
{
	bool sealed = n->sealed;

	if (f->e.path) {
		iot_name_check(f, n);
		return;
	}
	iot_name_record(f, n, false);
	if (!sealed && f->e.path)
		f->e.unsure |= IOT_UNSURE_CHANGED;
}

void iot_open_end(struct iot_frame *f, s64 result)
{
	bool created = false, wanted = true;
	struct file *file = NULL;

	if (result >= 0) {
		f->e.fd = result;
		file = fget_raw(result);
	}
	if (file) {
		created = is_created(f, file);
		wanted = iot_fs_file(&f->e, &file->f_path, f->may_sleep);
		fput(file);
	} else if (f->name[0].user) {
		record_failed(f, &f->name[0]);
	}
	if (wanted)
		end_as(f, created, result);
}

static bool read_how(const struct iot_frame *f, struct open_how *how, bool may_sleep)
{
	const void __user *user = (const void __user *)f->a[2];

	return !(may_sleep ? copy_from_user(how, user, sizeof(*how)) :
			     copy_from_user_nofault(how, user, sizeof(*how)));
}

/* openat2(dfd, name, how, size): flags and mode are in user memory */
bool iot_open_begin_how(struct iot_frame *f)
{
	struct open_how how;

	if (read_how(f, &how, f->may_sleep)) {
		f->e.flags = how.flags;
		f->e.flags2 = how.mode;
	}
	return iot_open_begin(f);
}

void iot_open_end_how(struct iot_frame *f, s64 result)
{
	struct open_how how;

	if (!read_how(f, &how, false) || f->e.flags != (u32)how.flags ||
	    f->e.flags2 != (u32)how.mode)
		f->e.unsure |= IOT_UNSURE_CHANGED;
	iot_open_end(f, result);
}

/*
 * do_filp_open(dfd, name, how) of io_uring: returns the open file. The flags in @how are
 * private to the kernel, so the event takes those of the open file instead, without the
 * O_NONBLOCK that io_openat2() adds where it must not wait.
 */
bool iot_open_begin_uring(struct iot_frame *f)
{
	return !iot_name_take(f, &f->name[0], f->a[0], f->a[1]) ||
	       look_before(f, IOT_LOOKUP_FOLLOW);
}

void iot_open_end_uring(struct iot_frame *f, s64 result)
{
	const struct file *file = (const struct file *)result;
	bool created;

	if (IS_ERR(file)) {
		/* the request would have to wait: a worker tries again */
		if (result == -EAGAIN && !(current->flags & PF_IO_WORKER))
			return;
		if (!f->e.path && iot_name_is_there(&f->name[0]))
			iot_name_record(f, &f->name[0], false);
		end_as(f, false, result);
		return;
	}
	created = (file->f_mode & FMODE_CREATED) ||
		  (file->f_flags & O_TMPFILE) == O_TMPFILE;
	f->e.flags = file->f_flags | (created ? O_CREAT : 0);
	if (!(current->flags & PF_IO_WORKER))
		f->e.flags &= ~O_NONBLOCK;
	f->e.flags2 = created ? file_inode(file)->i_mode & 07777 : 0;
	if (iot_fs_file(&f->e, &file->f_path, f->may_sleep))
		end_as(f, created, 0);
}

/*
 * vfs_open(path, file): reads and writes of a new kind of file have to be hooked, whatever task
 * opens it. The filter's conditions on tasks and operations do not matter for this. Opening may
 * be unbounded, so the call passes through. Only opening a character device is followed, as that
 * sets the functions of the file.
 */
bool iot_open_wants_new(const u64 *a)
{
	const struct path *path = (const struct path *)a[0];

	return iot_rw_is_new(d_backing_inode(path->dentry));
}

bool iot_open_see_first(const unsigned long *args)
{
	const struct path *path = (const struct path *)args[0];
	const struct inode *inode = d_backing_inode(path->dentry);

	if (S_ISCHR(inode->i_mode))
		return true;
	iot_rw_see_inode(inode);
	return false;
}

void iot_open_see(const unsigned long *args, s64 result)
{
	if (!(s32)result)
		iot_rw_see((const struct file *)args[1]);
}

/*
 * fd_install(fd, file): as above, for every file that gets a descriptor, however it was opened
 * or made: pipes, sockets, memfds, eventfds, and files of devices and debugfs, which may replace
 * their functions when they are opened. This runs before the call, because afterwards another
 * thread may close the file. The functions that make files (alloc_file_pseudo()) are not hooked
 * for this: locks may be held there that CPU hotplug takes, as in perf_event_open(2), and
 * hooking a function waits for CPU hotplug.
 */
bool iot_open_wants_installed(const u64 *a)
{
	return iot_rw_is_new_file((const struct file *)a[1]);
}

bool iot_open_see_installed(const unsigned long *args)
{
	iot_rw_see((const struct file *)args[1]);
	return false;
}

/*
 * Return: the executable file of the process, with a reference held, or NULL. Unlike
 * path_put(), fput() does not sleep.
 */
static struct file *program(void)
{
	return current->mm ? iot_exe_file(current->mm) : NULL;
}

/* execve() and execveat(): the file is the one that the call names, which may be a script */
bool iot_exec_begin(struct iot_frame *f)
{
	return iot_path_begin(f);
}

/* kernel_execve(name, ...): a program that the kernel runs */
bool iot_exec_begin_kernel(struct iot_frame *f)
{
	const char *text = (const char *)f->a[0];

	f->name[0].dfd = AT_FDCWD;
	if (!f->may_sleep) {
		iot_fs_name(&f->e, text, strlen(text), false, false);
		return true;
	}
	f->name[0].text = kstrdup(text, GFP_KERNEL);
	return !f->name[0].text || iot_name_resolve(f, &f->name[0], IOT_LOOKUP_FOLLOW);
}

/* A script's second path is its interpreter, which is the program that runs now. */
void iot_exec_end(struct iot_frame *f, s64 result)
{
	struct file *file = !result && f->may_sleep ? program() : NULL;

	if (result) /* after success the old program's memory is gone */
		iot_name_check(f, &f->name[0]);

	if (file) {
		iot_fs_file2(&f->e, &file->f_path, true);
		fput(file);
		if (f->e.inode2 == f->e.inode && f->e.device2 == f->e.device) {
			f->e.path2 = 0;
			f->e.inode2 = 0;
			f->e.device2 = 0;
		}
	}
	iot_fs_end(&f->e, result);
}

/* taskstats_exit(task, group_dead): one event for each process, from its last thread */
bool iot_exit_wants(const u64 *a)
{
	return a[1] && current->mm;
}

static int exit_status(void)
{
	const struct signal_struct *sig = current->signal;

	if (sig->flags & SIGNAL_GROUP_EXIT)
		return sig->group_exit_code;
	return current->group_leader->exit_code;
}

bool iot_exit_begin(struct iot_frame *f)
{
	struct file *file = program();
	bool wanted = true;

	if (file) {
		wanted = iot_fs_file(&f->e, &file->f_path, f->may_sleep);
		fput(file);
	}
	if (wanted)
		iot_fs_end(&f->e, exit_status());
	return false;
}

#endif /* IOT_WITHOUT_FS_CALLS */
