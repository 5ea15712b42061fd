// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks of the functions that change the file to which a name leads. They are attached while a
 * target follows its paths.
 *
 * A change is reported after it was made and before the call returns, so that nobody has used the
 * new file yet. The creation of a file by open(2) has no function through which the open of every
 * filesystem passes, so a created file is reported when it is being opened. That open may fail
 * before, by a rule of a security module. Therefore, as long as a watched path leads nowhere, each
 * open of a watched name is reported, not only an open that has created the file.
 *
 * A call that waits for a server, of FUSE or of a network filesystem, may never return. If its name
 * is watched, the module cannot be unloaded until it does (unload.c).
 *
 * A hook that cannot redirect its function (attach=entry) may not sleep. It only reports that some
 * name may have changed. So do the hooks of the functions by which btrfs creates and deletes
 * subvolumes, because their callers have a transaction open.
 *
 * As with inotify, changes that a server makes by itself are not seen.
 *
 * Contexts: all functions run in the task that makes the change, in process context. Except for the
 * one that opens, they are called with the directory's lock held, so its names do not change
 * meanwhile. They may sleep.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "compat/watch.h"
#include "hook/enter.h"
#include "hook/hook_set.h"
#include "hook/kretprobe.h"
#include "hook/symbol.h"
#include "file/name_hooks.h"
#include "file/watch.h"

/* What a hooked function does. */
enum action {
	MAKES_FILE,
	MAKES_OTHER,		/* a directory or a symbolic link */
	DELETES,
	RENAMES,
	OPENS,
	MAKES_DIR_INODE,	/* d_instantiate(dentry, inode) */
	DELETES_DIR_INODE,	/* d_delete(dentry) */
};

/* The tag of a site: the action, and which argument is the dentry. */
#define TAG(action, arg)	((action) << 4 | (arg))

static const struct iot_name_ops *ops;
static DEFINE_MUTEX(hooks_lock);	/* protects @users */
static unsigned int users;
static bool any_gone;	/* a watched path leads nowhere */

static enum action action_of(const struct iot_site *site)
{
	return site->tag >> 4;
}

static struct dentry *dentry_of(const struct iot_site *site, const unsigned long *args)
{
	return (struct dentry *)args[site->tag & 15];
}

/* Context: the name does not change meanwhile. A root that is being made has no parent yet. */
static bool is_watched(struct dentry *dentry)
{
	struct inode *dir = d_inode(dentry->d_parent);

	return dir && iot_watch_has(dir, &dentry->d_name);
}

/*
 * Copy a name, which may change meanwhile: what is copied may then be the beginning of one and the
 * end of the other. The name's memory stays during RCU, and always ends with a NUL.
 */
static void copy_name(const struct dentry *dentry, char text[NAME_MAX + 1], struct qstr *name)
{
	ssize_t len = strscpy(text, READ_ONCE(dentry->d_name.name), NAME_MAX + 1);

	*name = (struct qstr)QSTR_INIT(text, len < 0 ? NAME_MAX : len);
}

/* Is the name by which a file was opened watched? Context: any that is not an interrupt */
static bool is_opened(const struct file *file)
{
	const struct dentry *dentry = file->f_path.dentry;
	char text[NAME_MAX + 1] IOT_UNINITIALIZED;
	struct inode *dir;
	struct qstr name;
	bool found;

	if (!(file->f_mode & FMODE_CREATED) && !READ_ONCE(any_gone))
		return false;
	rcu_read_lock();
	copy_name(dentry, text, &name);
	dir = d_inode_rcu(READ_ONCE(dentry->d_parent));
	found = dir && iot_watch_has(dir, &name);
	rcu_read_unlock();
	return found;
}

static bool is_wanted(const struct iot_site *site, const unsigned long *args)
{
	const struct renamedata *rd = (const struct renamedata *)args[0];

	switch (action_of(site)) {
	case OPENS:
		return is_opened((const struct file *)args[0]);
	case RENAMES:
		return is_watched(rd->old_dentry) || is_watched(rd->new_dentry);
	case MAKES_DIR_INODE:
		return args[1] && S_ISDIR(((const struct inode *)args[1])->i_mode) &&
		       is_watched(dentry_of(site, args));
	case DELETES_DIR_INODE:
		return d_is_dir(dentry_of(site, args)) && is_watched(dentry_of(site, args));
	default:
		return is_watched(dentry_of(site, args));
	}
}

static enum iot_hook_verdict wants(const struct iot_site *site, const unsigned long *args,
				   unsigned long caller)
{
	return is_wanted(site, args) ? IOT_HOOK_FOLLOW : IOT_HOOK_IGNORE;
}

/**
 * struct place - a name that a call may change
 * @dir:	stays during the call
 * @name:	as it is before the call
 * @watched:	the others are filled in
 */
struct place {
	struct inode *dir;
	struct name_snapshot name;
	bool watched;
};

static void place_take(struct place *p, struct dentry *dentry)
{
	p->watched = is_watched(dentry);
	if (!p->watched)
		return;
	p->dir = d_inode(dentry->d_parent);
	take_dentry_name_snapshot(&p->name, dentry);
}

static void place_release(struct place *p)
{
	if (p->watched)
		release_dentry_name_snapshot(&p->name);
}

static void report(const struct place *p, enum iot_name_change change, struct inode *inode)
{
	if (p->watched)
		ops->changed(p->dir, &p->name.name, change, inode);
}

/* A call that changes one name. */
static s64 call_on_name(const struct iot_site *site, unsigned long *args)
{
	struct dentry *dentry = dentry_of(site, args);
	enum action action = action_of(site);
	struct place place;
	s64 result;

	place_take(&place, dentry);
	result = iot_hook_call(args, site->entry);
	if (action == MAKES_OTHER) /* the result may be a pointer: that nothing was made is found */
		report(&place, IOT_NAME_MADE, NULL);
	else if (!(s32)result && action == MAKES_FILE)
		report(&place, IOT_NAME_MADE, d_inode(dentry));
	else if (!(s32)result)
		report(&place, IOT_NAME_DELETED, NULL);
	place_release(&place);
	return result;
}

/* A rename of a name to itself, or to another name of the same file, changes nothing. */
static bool has_moved(const struct dentry *dentry, const struct dentry *parent,
		      const struct qstr *name)
{
	return dentry->d_parent != parent || dentry->d_name.len != name->len ||
	       memcmp(dentry->d_name.name, name->name, name->len);
}

static s64 call_rename(const struct iot_site *site, unsigned long *args)
{
	const struct renamedata *rd = (const struct renamedata *)args[0];
	struct dentry *old = rd->old_dentry, *new = rd->new_dentry;
	bool exchange = rd->flags & RENAME_EXCHANGE;
	const struct dentry *parent = old->d_parent;
	struct place from, to;
	struct qstr old_name;
	s64 result;

	place_take(&from, old);
	place_take(&to, new);
	result = iot_hook_call(args, site->entry);
	if (from.watched)
		old_name = from.name.name;
	if (!(s32)result && (!from.watched || has_moved(old, parent, &old_name))) {
		report(&from, IOT_NAME_MOVED, NULL);
		if (exchange)
			report(&to, IOT_NAME_MOVED, NULL);
		report(&to, IOT_NAME_MADE, d_inode(old));
		if (exchange)
			report(&from, IOT_NAME_MADE, d_inode(new));
	}
	place_release(&to);
	place_release(&from);
	return result;
}

/* The file exists already: the call goes on with nothing of ours on the stack. */
static s64 call_open(unsigned long *args)
{
	struct dentry *dentry = ((const struct file *)args[0])->f_path.dentry;
	struct dentry *parent = dget_parent(dentry);
	char text[NAME_MAX + 1];
	struct qstr name;

	rcu_read_lock();
	copy_name(dentry, text, &name);
	rcu_read_unlock();
	ops->changed(d_inode(parent), &name, IOT_NAME_OPENED, d_inode(dentry));
	dput(parent);
	return IOT_HOOK_PASS_THROUGH;
}

static s64 call(const struct iot_site *site, unsigned long *args)
{
	s64 result;

	switch (action_of(site)) {
	case OPENS:
		return call_open(args);
	case RENAMES:
		return call_rename(site, args);
	case MAKES_DIR_INODE:
	case DELETES_DIR_INODE:
		result = iot_hook_call(args, site->entry);
		ops->unsure();
		return result;
	default:
		return call_on_name(site, args);
	}
}

static int probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long args[IOT_CALL_ARGS];

	iot_kretprobe_args(regs, args, ARRAY_SIZE(args));
	return !is_wanted(iot_site_of(ri), args);
}

static int probe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	ops->unsure();
	return 0;
}

#define SITE(name, act, arg, prototype)	\
	{ .symbol = name, .what = "name", .proto = prototype, .tag = TAG(act, arg) }
#define ON_DIR		"_ (_, struct inode *, struct dentry *, ...)"

/* Called once for each open, when the path is set and the filesystem has not been asked yet. */
#ifdef CONFIG_SECURITY
#define OPEN_FUNCTION	"security_file_open"
#else
#define OPEN_FUNCTION	"do_dentry_open"
#endif

static struct iot_site sites[] = {
	SITE("vfs_create", MAKES_FILE, IOT_VFS_CREATE_ARG, IOT_VFS_CREATE_PROTO),
	SITE("vfs_link", MAKES_FILE, 3,
	     "int (struct dentry *, _, struct inode *, struct dentry *, ...)"),
	SITE("vfs_symlink", MAKES_OTHER, 2, ON_DIR),
	SITE("vfs_mkdir", MAKES_OTHER, 2, ON_DIR),
	SITE("vfs_unlink", DELETES, 2, ON_DIR),
	SITE("vfs_rmdir", DELETES, 2, ON_DIR),
	SITE("vfs_rename", RENAMES, 0, "int (struct renamedata *)"),
	SITE(OPEN_FUNCTION, OPENS, 0, "int (struct file *, ...)"),
	SITE("d_instantiate", MAKES_DIR_INODE, 0, "void (struct dentry *, struct inode *)"),
	SITE("d_instantiate_new", MAKES_DIR_INODE, 0, "void (struct dentry *, struct inode *)"),
	SITE("d_delete", DELETES_DIR_INODE, 0, "void (struct dentry *)"),
};

static struct iot_hook_set set = {
	.sites = sites,
	.nr = ARRAY_SIZE(sites),
	.wants = wants,
	.call = call,
	.entry = probe_entry,
	.exit = probe_exit,
};

/**
 * iot_name_hooks_get() - attach the hooks, until iot_name_hooks_put()
 *
 * A call that is under way may change a name without being seen, until it has released the lock
 * of its directory.
 * Context: task, may sleep for seconds. Return: 0, or the error of attaching.
 */
int iot_name_hooks_get(void)
{
	int err = 0;

	mutex_lock(&hooks_lock);
	if (!users)
		err = iot_hook_set_start(&set, NULL, 0);
	if (!err)
		users++;
	mutex_unlock(&hooks_lock);
	return err;
}

/** iot_name_hooks_put() - undo iot_name_hooks_get(). Context: task, may sleep */
void iot_name_hooks_put(void)
{
	mutex_lock(&hooks_lock);
	if (!--users)
		iot_hook_set_stop(&set, NULL, 0);
	mutex_unlock(&hooks_lock);
}

/** iot_name_hooks_set_gone() - note whether a watched path leads nowhere. Context: any */
void iot_name_hooks_set_gone(bool gone)
{
	WRITE_ONCE(any_gone, gone);
}

/** iot_name_hooks_init() - set what is called, before the first iot_name_hooks_get() */
void iot_name_hooks_init(const struct iot_name_ops *name_ops)
{
	ops = name_ops;
}
