// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the file of a call inside the call: where the kernel itself looks its name up, creates,
 * removes or moves a directory entry, or checks a program. So a filesystem or a server is contacted
 * only once, by the call.
 *
 * A wrapper that does not know the file before the call (fs_find.c) adds its frame to a table
 * during the call, by its task. If the table is empty, as it nearly always is, a hook of this file
 * does nothing. Only the task itself uses the frame. A task that dies of an oops inside a call
 * leaves its frame behind, and another task may get its address. So a frame is valid only for a
 * task with the start time that it has.
 *
 * The first file that matches is taken: a filesystem may call the same functions for files below
 * it.
 *
 * Contexts: task, inside a system call or a worker of io_uring. A wrapper may sleep; it may hold
 * the locks of the directories, under which the kernel allocates memory, too. A kretprobe's handler
 * may not sleep.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/sched.h>
#include "core/table.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/symbol.h"
#include "probe/fs_frame.h"

/**
 * struct inside - a task inside a call, by the address of its task_struct
 * @time:	when the call began, CLOCK_MONOTONIC ns
 * @born:	when the task began, CLOCK_MONOTONIC ns
 * @frame:	of the call, on the stack of the task
 * @uid:	effective user of the task, in the kernel's view
 * @pid:	its process
 *
 * One that is displaced is not found: the call is treated as one that failed early.
 */
struct inside {
	u64 time;
	u64 born;
	struct iot_frame *frame;
	u32 uid;
	u32 pid;
};

#define INSIDE_BITS	9

IOT_TABLE_STORE(inside, struct inside, INSIDE_BITS);
static struct iot_table inside = {
	IOT_TABLE_OF(struct inside, time, uid, pid),
	IOT_TABLE_STORED(inside, INSIDE_BITS),
};

/* Have the frame seen by what the task calls. */
static void watch(struct iot_frame *f)
{
	struct inside *in;

	if (f->watched || !f->may_sleep)
		return;
	preempt_disable_notrace();
	in = iot_table_new(&inside, current);
	if (in) {
		in->time = f->e.time;
		in->born = current->start_time;
		in->frame = f;
		in->uid = __kuid_val(current_euid());
		in->pid = current->tgid;
		iot_table_keep(in);
		f->watched = true;
	}
	preempt_enable_notrace();
}

/**
 * iot_inside_begin() - note that the file of f->name[0] is not known before the call
 * @search:	where it is to be seen
 *
 * iot_inside_end() is called after the call. Context: wrapper, task.
 */
void iot_inside_begin(struct iot_frame *f, enum iot_search search)
{
	f->unknown = true;
	f->search = search;
	if (search != IOT_SEARCH_NOWHERE)
		watch(f);
}

/** iot_inside_begin_new() - as above: the call makes a file, which is to be seen inside */
void iot_inside_begin_new(struct iot_frame *f)
{
	f->makes = true;
	watch(f);
}

/** iot_inside_end() - undo both, or nothing. Context: task */
void iot_inside_end(struct iot_frame *f)
{
	struct inside *in;

	if (!f->watched)
		return;
	f->watched = false;
	preempt_disable_notrace();
	in = iot_table_take(&inside, current);
	if (in)
		iot_table_drop(&inside, in);
	preempt_enable_notrace();
}

/* Return: the frame of the call that current is in and that looks for a file, or NULL. */
static struct iot_frame *frame_of_current(void)
{
	struct iot_frame *f = NULL;
	struct inside *in;

	if (iot_table_is_empty(&inside))
		return NULL;
	preempt_disable_notrace();
	in = iot_table_take(&inside, current);
	if (in) {
		if (in->born == current->start_time)
			f = in->frame;
		iot_table_keep(in);
	}
	preempt_enable_notrace();
	return f;
}

enum tag {
	TAG_LOOKUP,	/* filename_lookup(dfd, name, flags, path, root) */
	TAG_MOUNT,	/* mnt_want_write(mount) */
	TAG_REMOVE,	/* vfs_unlink() and vfs_rmdir(mapping, directory, dentry, ...) */
	TAG_RENAME,	/* vfs_rename(data) */
	TAG_MAKE,	/* vfs_mkdir(), vfs_mknod(), vfs_symlink(mapping, directory, dentry, ...) */
	TAG_LINK,	/* vfs_link(old, mapping, directory, dentry, ...) */
	TAG_EXEC,	/* security_bprm_creds_for_exec(program): of what the call names */
};

/* Does the frame want to see this call? */
static bool fits(const struct iot_frame *f, const struct iot_site *site, const unsigned long *args)
{
	const struct filename *name = (const struct filename *)args[1];

	switch ((enum tag)site->tag) {
	case TAG_MOUNT:
		return f->makes || f->search == IOT_SEARCH_REMOVE || f->search == IOT_SEARCH_RENAME;
	case TAG_MAKE:
	case TAG_LINK:
		return f->makes && f->mnt && !f->made.dentry;
	case TAG_LOOKUP:
		return f->search == IOT_SEARCH_LOOKUP && !f->found && !IS_ERR_OR_NULL(name) &&
		       iot_name_is(&f->name[0], name->name);
	case TAG_REMOVE:
		return f->search == IOT_SEARCH_REMOVE && !f->found && f->mnt;
	case TAG_RENAME:
		return f->search == IOT_SEARCH_RENAME && !f->found && f->mnt;
	case TAG_EXEC:
		return f->search == IOT_SEARCH_EXEC && !f->found;
	}
	return false;
}

static void found(struct iot_frame *f, const struct path *path, bool may_sleep)
{
	f->found = true;
	f->wanted = iot_fs_file(&f->e, path, may_sleep);
}

static bool is_in(const struct dentry *dentry, const struct vfsmount *mnt)
{
	return d_is_positive(dentry) && dentry->d_sb == mnt->mnt_sb;
}

/* As iot_path_begin_rename() does where the files are known before the call. */
static void see_rename(struct iot_frame *f, const struct renamedata *data, bool may_sleep)
{
	struct path old = { .mnt = f->mnt, .dentry = data->old_dentry };
	struct path new = { .mnt = f->mnt, .dentry = data->new_dentry };

	if (!is_in(old.dentry, f->mnt))
		return;
	found(f, &old, may_sleep);
	f->wanted = f->wanted || iot_fs_second_counts();
	path_get(&old);
	f->held = old; /* put with the frame */
	if (!f->e.inode2 && is_in(new.dentry, f->mnt))
		iot_fs_file2(&f->e, &new, may_sleep);
}

/* The entry that is being made, which leads to a file when the function has returned. */
static void see_new(struct iot_frame *f, struct dentry *dentry)
{
	struct path path = { .mnt = f->mnt, .dentry = dentry };

	if (dentry->d_sb != f->mnt->mnt_sb)
		return;
	path_get(&path);
	f->made = path; /* put with the frame */
}

/* Before a function that is followed by its entry alone. */
static void see(struct iot_frame *f, const struct iot_site *site, const unsigned long *args,
		bool may_sleep)
{
	struct path path = { .mnt = f->mnt };
	const struct file *file;

	switch ((enum tag)site->tag) {
	case TAG_MOUNT:
		f->mnt = (struct vfsmount *)args[0];
		break;
	case TAG_REMOVE:
		path.dentry = (struct dentry *)args[2];
		if (is_in(path.dentry, path.mnt))
			found(f, &path, may_sleep);
		break;
	case TAG_MAKE:
		see_new(f, (struct dentry *)args[2]);
		break;
	case TAG_LINK:
		see_new(f, (struct dentry *)args[3]);
		break;
	case TAG_RENAME:
		see_rename(f, (const struct renamedata *)args[0], may_sleep);
		break;
	case TAG_EXEC:
		file = ((const struct linux_binprm *)args[0])->file;
		if (file)
			found(f, &file->f_path, may_sleep);
		break;
	case TAG_LOOKUP:
		break;
	}
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	struct iot_frame *f = frame_of_current();

	return f && fits(f, site, args) ? IOT_HOOK_FOLLOW : IOT_HOOK_IGNORE;
}

static s64 call(const struct iot_site *site, unsigned long *args)
{
	const struct filename *name = (const struct filename *)args[1];
	const struct path *path = (const struct path *)args[3];
	struct iot_frame *f = frame_of_current();
	s64 result;

	if (!f)
		return IOT_HOOK_PASS_THROUGH;
	if (site->tag != TAG_LOOKUP) {
		see(f, site, args, true);
		return IOT_HOOK_PASS_THROUGH;
	}
	iot_name_note(&f->name[0], name->name);
	result = iot_hook_call(args, site->entry);
	if (!(s32)result)
		found(f, path, true);
	return result;
}

struct instance {
	struct iot_frame *f;
	const struct path *path;
};

static int entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct instance *i = (struct instance *)ri->data;
	const struct iot_site *site = iot_site_of(ri);
	unsigned long args[IOT_CALL_ARGS];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	i->f = frame_of_current();
	if (!i->f || !fits(i->f, site, args))
		return 1;
	i->path = (const struct path *)args[3];
	see(i->f, site, args, false);
	return site->tag != TAG_LOOKUP;
}

static int leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct instance *i = (const struct instance *)ri->data;

	if (!(s32)regs_return_value(regs))
		found(i->f, i->path, false);
	return 0;
}

#ifdef IOT_REDIRECT
/* Context: entry of the function, task. */
static void handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	if (unlikely(!iot_table_is_empty(&inside)))
		iot_hook_set_handle(ip, parent_ip, ops, fregs);
}
#endif

#define FUNCTION(function, t, p)	\
	{ .symbol = (function), .what = "look-up", .tag = (t), .proto = (p), \
	  .handler = IOT_HOOK_OWN(handler) }

static struct iot_site sites[] = {
	FUNCTION("filename_lookup", TAG_LOOKUP,
		 "int (int, struct filename *, int, struct path *, struct path *)"),
	FUNCTION("mnt_want_write", TAG_MOUNT, "int (struct vfsmount *)"),
	FUNCTION("vfs_unlink", TAG_REMOVE, "int (_, struct inode *, struct dentry *, _)"),
	FUNCTION("vfs_rmdir", TAG_REMOVE, "int (_, struct inode *, struct dentry *, ...)"),
	FUNCTION("vfs_rename", TAG_RENAME, "int (struct renamedata *)"),
	FUNCTION("vfs_mkdir", TAG_MAKE, "_ (_, struct inode *, struct dentry *, ...)"),
	FUNCTION("vfs_mknod", TAG_MAKE, "int (_, struct inode *, struct dentry *, ...)"),
	FUNCTION("vfs_symlink", TAG_MAKE, "int (_, struct inode *, struct dentry *, char *, ...)"),
	FUNCTION("vfs_link", TAG_LINK,
		 "int (struct dentry *, _, struct inode *, struct dentry *, ...)"),
	FUNCTION("security_bprm_creds_for_exec", TAG_EXEC, "int (struct linux_binprm *)"),
};

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.call = call,
	.entry = entry,
	.exit = leave,
	.data_size = sizeof(struct instance),
};

static bool started;	/* under the category's mutex @control */

/** iot_inside_start() - hook the functions. Context: as iot_fs_calls_start(). Return: 0, -ENOMEM */
int iot_inside_start(void)
{
	int err = iot_hook_set_start(&set, NULL, 0);

	started = !err;
	return err;
}

/** iot_inside_stop() - undo that; frames stay in the table until their calls return */
void iot_inside_stop(void)
{
	if (started)
		iot_hook_set_stop(&set, NULL, 0);
	started = false;
}

#endif /* IOT_WITHOUT_FS_CALLS */
