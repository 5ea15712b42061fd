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
#include <linux/namei.h>
#include <uapi/linux/mount.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "core/btf.h"
#include "record/rw.h"
#include "probe/fs_frame.h"

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
 * Record the file that the name leads to before the call, if that is known. Return: false if it is
 * not wanted, or if opening it may be unbounded and the event has been recorded. The opening of a
 * FIFO that is not known before is followed by the wrapper, however long it waits.
 */
static bool look_before(struct iot_frame *f, enum iot_lookup lookup)
{
	int err;

	if (!f->may_sleep) {
		iot_name_seal(f, &f->name[0]);
		return true;
	}
	err = iot_name_find(f, lookup, IOT_SEARCH_NOWHERE);
	if (err == -EPERM)
		return false;
	if (err || f->late || !may_wait(&f->e))
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

/*
 * open_tree(directory, name, flags): a descriptor as by O_PATH. That of the place itself, or of a
 * copy of the mount, is known after the call.
 */
bool iot_open_begin_tree(struct iot_frame *f)
{
	f->name[0].dfd = (int)iot_frame_arg(f, f->call->dfd);
	f->name[0].user = (const char __user *)iot_frame_arg(f, f->call->path);
	f->e.flags = O_PATH | ((u32)f->a[2] & O_CLOEXEC);
	iot_name_seal(f, &f->name[0]);
	return true;
}

/* fsmount(context, flags, attributes): as above, of the root of a new filesystem */
bool iot_open_begin_mount(struct iot_frame *f)
{
	f->e.flags = O_PATH | ((u32)f->a[1] & FSMOUNT_CLOEXEC ? O_CLOEXEC : 0);
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

#define RESTRICTIONS	(LOOKUP_NO_XDEV | LOOKUP_NO_MAGICLINKS | LOOKUP_NO_SYMLINKS |	\
			 LOOKUP_IS_SCOPED)

/* The LOOKUP_* that openat2(2) restricts a look-up by: fs/open.c, build_open_flags() */
static u32 resolve_of(u64 resolve)
{
	return (resolve & RESOLVE_NO_XDEV ? LOOKUP_NO_XDEV : 0) |
	       (resolve & RESOLVE_NO_MAGICLINKS ? LOOKUP_NO_MAGICLINKS : 0) |
	       (resolve & RESOLVE_NO_SYMLINKS ? LOOKUP_NO_SYMLINKS : 0) |
	       (resolve & RESOLVE_BENEATH ? LOOKUP_BENEATH : 0) |
	       (resolve & RESOLVE_IN_ROOT ? LOOKUP_IN_ROOT : 0);
}

/* openat2(dfd, name, how, size): flags and mode are in user memory */
bool iot_open_begin_how(struct iot_frame *f)
{
	struct open_how how;

	if (iot_frame_read(f, &how, f->a[2], sizeof(how))) {
		f->e.flags = how.flags & ~IOT_CALL_COMMON;
		f->e.flags2 = how.mode;
		f->resolve = resolve_of(how.resolve);
	} else if (!f->late) {
		return true; /* this is called again, after the call */
	}
	return iot_open_begin(f);
}

void iot_open_end_how(struct iot_frame *f, s64 result)
{
	struct open_how how;

	if (!iot_frame_read(f, &how, f->a[2], sizeof(how)) ||
	    f->e.flags != ((u32)how.flags & ~IOT_CALL_COMMON) || f->e.flags2 != (u32)how.mode)
		f->e.unsure |= IOT_UNSURE_CHANGED;
	iot_open_end(f, result);
}

/* Where struct open_flags, which no header declares, has its LOOKUP_*; negative if not known. */
static int lookup_flags_at = -ENOENT;

/** iot_open_look() - find what io_uring's open passes on. Context: task, may sleep */
void iot_open_look(void)
{
	lookup_flags_at = iot_btf_member("open_flags", "lookup_flags", "int");
}

/*
 * do_filp_open(dfd, name, how) of io_uring: returns the open file. The flags in @how are
 * private to the kernel, so the event takes those of the open file instead, without the
 * O_NONBLOCK that io_openat2() adds where it must not wait.
 */
bool iot_open_begin_uring(struct iot_frame *f)
{
	enum iot_lookup lookup = IOT_LOOKUP_FOLLOW;
	u32 flags;

	if (lookup_flags_at >= 0) {
		flags = *(const u32 *)(f->a[2] + lookup_flags_at);
		f->resolve = flags & RESTRICTIONS;
		lookup = flags & LOOKUP_FOLLOW ? lookup : IOT_LOOKUP_NOFOLLOW;
	}
	return !iot_name_take(f, &f->name[0], f->a[0], f->a[1]) || look_before(f, lookup);
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
 * Return: the executable file of the process, with a reference held, or NULL. Unlike
 * path_put(), fput() does not sleep.
 */
static struct file *program(void)
{
	return current->mm ? iot_exe_file(current->mm) : NULL;
}

/*
 * execve() and execveat(): the file is the one that the call names, which may be a script. The name
 * is gone with the memory of the program that makes the call.
 */
bool iot_exec_begin(struct iot_frame *f)
{
	bool wanted = iot_path_begin_search(f, IOT_SEARCH_EXEC);

	if (wanted && f->unknown)
		iot_name_copy(&f->name[0]);
	return wanted;
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
	return !f->name[0].text || iot_name_resolve(f, IOT_LOOKUP_FOLLOW, IOT_SEARCH_EXEC);
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
