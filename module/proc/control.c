// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/iotracer: control, error, hooks, format, memory, and a directory for each target.
 *
 * One lock (iot_targets_enter()) serialises changes of the list of targets. No memory of a program
 * is touched while it is held. A target is taken off the list under the lock; its directory is
 * removed without it. A path is looked up before the lock is taken. The lookup takes locks of
 * directories and may wait for a server; tasks that read control, by splice() for example, hold
 * other locks, with which that could deadlock. Tasks that change a name of a traced path hold the
 * lock of its directory when they take it.
 */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "core/budget.h"
#include "core/param.h"
#include "core/refusal.h"
#include "hook/engine.h"
#include "hook/point.h"
#include "file/path.h"
#include "file/paths.h"
#include "record/categories.h"
#include "record/tasks.h"
#include "proc/control.h"
#include "proc/discard.h"
#include "proc/follow.h"
#include "proc/format.h"
#include "proc/left_out.h"
#include "proc/paths_file.h"
#include "proc/poller.h"
#include "proc/procfile.h"
#include "proc/registry.h"
#include "proc/target.h"
#include "proc/target_path.h"
#include "proc/target_proc.h"
#include "proc/scope_target.h"

static struct iot_procdir root;
static struct iot_refusal refusal = IOT_REFUSAL_INIT(refusal);

/* Return: a target that is to be discarded, or NULL. */
typedef struct iot_target *(*path_fn)(struct iot_target *t, struct iot_target_path *tp);
typedef struct iot_target_path *(*find_fn)(const char *text, struct inode *inode,
					   struct iot_target **t);

/**
 * struct add - what a command asks for
 * @max_events:	0 if not given
 * @follows:	the target is to follow the path
 * @all_operations: the target is to record not only reads and writes
 * @sockets:	the log of processes is to have the rows of their sockets
 */
struct add {
	u64 max_events;
	bool follows;
	bool all_operations;
	bool sockets;
};

/* Check that a file can be traced and that current may read it. */
static int check_file(const struct path *path)
{
	struct inode *inode = d_inode(path->dentry);

	if (!S_ISREG(inode->i_mode) && !S_ISBLK(inode->i_mode))
		return -EOPNOTSUPP;
	/* as may_open_dev(): the node's creator may have had no right to make it */
	if (S_ISBLK(inode->i_mode) && (path->mnt->mnt_flags & MNT_NODEV ||
				       inode->i_sb->s_iflags & SB_I_NODEV))
		return -EACCES;
	return iot_inode_permission(path->mnt, inode, MAY_READ);
}

/* Return: 1 and the path is the target's now, or an error. */
static int create_target(const struct path *path, const struct kstat *stat,
			 struct iot_target_path *tp, const struct add *add, struct iot_why *why)
{
	u64 max_events = add->max_events ?: iot_param_max_events();
	struct iot_target *t = iot_target_create(path, stat, max_events, add->all_operations, why);
	int err;

	if (IS_ERR(t))
		return PTR_ERR(t);
	err = iot_target_mkdir(t, &root);
	if (!err)
		err = iot_follow_list(tp, t, iot_target_file_lookup(d_inode(path->dentry)));
	if (!err)
		return 1;
	iot_target_detach(t);
	iot_target_discard(t);
	return err;
}

/*
 * List a target under one more path, which leads to its file @f.
 * Return: 1 if the path is the target's now, 0 if it has one with that path, or an error.
 */
static int add_to(struct iot_target_file *f, struct inode *inode, struct iot_target_path *tp,
		  const struct add *add, struct iot_why *why)
{
	struct iot_target *t = iot_target_of(f);
	struct iot_target_path *old = iot_target_path_find(t, tp->path);
	int err = 0;

	if (add->max_events)
		err = iot_log_resize(&t->log, add->max_events, why);
	if (!err && add->all_operations)
		err = iot_target_extend(t, inode);
	if (err)
		return err;
	if (!old)
		return iot_follow_list(tp, t, f) ?: 1;
	iot_follow_renew(old, inode);
	return 0;
}

/* Return: 1 if the path is a target's now, 0 if it is not needed, or an error. */
static int list_path(const struct path *path, const struct kstat *stat, struct iot_target_path *tp,
		     const struct add *add, struct iot_why *why)
{
	struct inode *inode = d_inode(path->dentry);
	struct iot_target_file *f;
	int err = iot_targets_enter();

	if (err)
		return err;
	f = iot_target_file_lookup(inode);
	if (f)
		err = add_to(f, inode, tp, add, why);
	else
		err = create_target(path, stat, tp, add, why);
	iot_targets_leave();
	return err;
}

static int add_file(const struct path *path, const struct kstat *stat, const char *text,
		    const struct add *add, struct iot_why *why)
{
	struct iot_target_path *tp = iot_follow_prepare(text, path, add->follows);
	int ret;

	if (!tp)
		return -ENOMEM;
	ret = list_path(path, stat, tp, add, why);
	if (ret <= 0)
		iot_follow_discard(tp);
	return min(ret, 0);
}

static int add_path(const struct path *path, const struct add *add, struct iot_why *why)
{
	struct kstat stat;
	char *buf, *text;
	int err;

	err = check_file(path);
	if (!err)
		err = vfs_getattr(path, &stat, STATX_INO, AT_STATX_DONT_SYNC);
	if (err)
		return err;
	buf = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	text = iot_path_text(path, buf);
	err = IS_ERR(text) ? PTR_ERR(text) : add_file(path, &stat, text, add, why);
	kfree(buf);
	return err;
}

/*
 * The error for a path that names nothing. A command's text is one path, which may contain
 * spaces. If the part before one of the spaces names something, the text behind it is garbage
 * and not a name: -EINVAL instead of -ENOENT.
 * @known: does a text name something? 1, 0 or an error
 */
static int why_missing(const char *raw, int (*known)(const char *text))
{
	char *text = kstrdup(raw, GFP_KERNEL);
	int err = text ? -ENOENT : -ENOMEM;
	char *space;

	while (err == -ENOENT && (space = strrchr(text, ' '))) {
		char *part;
		int ret;

		*space = '\0';
		if (!*text)
			break;
		part = kstrdup(text, GFP_KERNEL);
		if (!part)
			ret = -ENOMEM;
		else
			ret = iot_path_unescape(part) ? 0 : known(part);
		kfree(part);
		if (ret)
			err = ret < 0 ? ret : -EINVAL;
	}
	kfree(text);
	return err;
}

static int is_file(const char *text)
{
	struct path path;
	int err = iot_path_lookup(text, &path);

	if (err)
		return err == -ENOMEM ? err : 0;
	path_put(&path);
	return 1;
}

/*
 * Split " <digits>" off the end of a command, if it is there.
 * Return: 0, or -EINVAL if the number is 0 or does not fit in 64 bits.
 */
static int split_number(char *text, u64 *number)
{
	char *space = strrchr(text, ' ');

	*number = 0;
	if (!space || !space[1] || strspn(space + 1, "0123456789") != strlen(space + 1))
		return 0;
	if (kstrtou64(space + 1, 10, number) || !*number)
		return -EINVAL;
	*space = '\0';
	return 0;
}

/* Add what a path leads to. @raw: the path as it was written */
static int add_at(const char *text, const char *raw, const struct add *add, struct iot_why *why)
{
	struct path path;
	int err = iot_path_lookup(text, &path);

	if (err == -ENOENT || err == -ENOTDIR)
		return why_missing(raw, is_file);
	if (err)
		return err;
	if (d_is_dir(path.dentry))
		err = iot_scope_target_add(&path, add->max_events, &root, why);
	else
		err = add_path(&path, add, why);
	path_put(&path);
	return err;
}

/* Take the options at the start of a command. Return: what is behind them. */
static char *take_options(char *text, struct add *add)
{
	for (;; text += 3) {
		if (!strncmp(text, "-i ", 3))
			add->follows = false;
		else if (!strncmp(text, "-a ", 3))
			add->all_operations = true;
		else if (!strncmp(text, "-n ", 3))
			add->sockets = true;
		else
			return text;
	}
}

static int add(char *text, struct iot_why *why)
{
	struct add add = {
		.follows = iot_param_follows_names(),
		.all_operations = iot_param_all_operations(),
	};
	char *raw;
	int err;

	text = take_options(text, &add);
	err = split_number(text, &add.max_events);
	if (err)
		return iot_why(why, err, "the number of events at its end is 0 or too large");
	raw = kstrdup(text, GFP_KERNEL);
	if (!raw)
		return -ENOMEM;
	err = *text ? iot_path_unescape(text) : -EINVAL;
	if (!err && iot_tasks_is_text(text))
		err = iot_scope_target_add_tasks(text, add.max_events, add.sockets, &root, why);
	else if (!err && add.sockets)
		err = iot_why(why, -EINVAL,
			      "-n is for processes: a file or directory has no sockets; say pid=, tree=, comm= or cgroup=");
	else if (!err)
		err = add_at(text, raw, &add, why);
	kfree(raw);
	return err;
}

static struct iot_target *remove_path(struct iot_target *t, struct iot_target_path *tp)
{
	iot_follow_drop(tp);
	if (!list_empty(&t->paths))
		return NULL;
	iot_target_detach(t);
	iot_follow_released();
	return t;
}

/* The listed path that is exactly this text, and its target. */
static struct iot_target_path *find_path(const char *text, struct iot_target **t)
{
	struct iot_target_path *tp = iot_target_path_find(NULL, text);

	if (tp)
		*t = tp->t;
	return tp;
}

/* The path of this file, and no other, that is exactly this text; @inode may be NULL. */
static struct iot_target_path *own_path(const char *text, struct inode *inode,
					struct iot_target **t)
{
	*t = inode ? iot_target_lookup(inode) : NULL;
	return *t ? iot_target_path_find(*t, text) : NULL;
}

/* The listed path that is exactly this text; that of @inode if there are several. */
static struct iot_target_path *listed_path(const char *text, struct inode *inode,
					   struct iot_target **t)
{
	return own_path(text, inode, t) ?: find_path(text, t);
}

/*
 * Call @fn under the lock for the path that @find finds by @text, or else by @abs.
 * @inode: of the file that is there now, or NULL
 * @abs: absolute path, or an error
 * Return: 1, 0 if there is no such path, or an error.
 */
static int with_found(find_fn find, const char *text, const char *abs,
		      struct inode *inode, path_fn fn)
{
	struct iot_target *t, *gone = NULL;
	struct iot_target_path *tp;
	int err = iot_targets_enter();

	if (err)
		return err;
	tp = find(text, inode, &t);
	if (!tp && !IS_ERR(abs))
		tp = find(abs, inode, &t);
	if (tp)
		gone = fn(t, tp);
	iot_targets_leave();
	if (gone)
		iot_target_discard(gone);
	return !!tp;
}

static void free_paths(struct list_head *paths)
{
	struct iot_target_path *tp, *next;

	list_for_each_entry_safe(tp, next, paths, list)
		kfree(tp);
}

/* Copy the paths that a file is listed under, to look them up without the lock. */
static int copy_paths(struct inode *inode, struct list_head *copies)
{
	struct iot_target *t;
	struct iot_target_path *tp;
	int err = iot_targets_enter();

	if (err)
		return err;
	t = iot_target_lookup(inode);
	if (t) {
		list_for_each_entry(tp, &t->paths, list) {
			err = iot_target_path_copy(copies, tp->path);
			if (err)
				break;
		}
	}
	iot_targets_leave();
	return err;
}

/* Return: 1 if a path does not lead to the file any more, 0 if it does, -ENOMEM if not known. */
static int is_stale(const char *text, struct inode *inode)
{
	struct path path;
	int err = iot_path_lookup(text, &path);
	bool stale;

	if (err)
		return err == -ENOMEM ? err : 1;
	stale = d_inode(path.dentry) != inode;
	path_put(&path);
	return stale;
}

/* As with_found(), for the first path of a file that does not lead to it any more. */
static int with_stale(struct inode *inode, path_fn fn)
{
	struct iot_target_path *tp;
	LIST_HEAD(paths);
	int ret;

	ret = copy_paths(inode, &paths);
	if (ret)
		goto free_paths;
	list_for_each_entry(tp, &paths, list) {
		ret = is_stale(tp->path, inode);
		if (ret > 0)
			ret = with_found(own_path, tp->path, ERR_PTR(-ENOENT), inode, fn);
		if (ret)
			break;
	}
free_paths:
	free_paths(&paths);
	return ret;
}

/*
 * Call @fn for the path of a target that a text means, whether the file still exists or not. The
 * text can be the path as it is listed, though another file may be there now, or lead to it after
 * symbolic links and dots are resolved. If neither is listed, it can be the new path of a file that
 * was renamed since it was added; @fn gets the old path.
 * Return: 1, 0 if there is no such path, or an error.
 */
static int with_path(const struct iot_named *n, path_fn fn)
{
	int ret = with_found(listed_path, n->text, n->absolute, n->inode, fn);

	return !ret && n->inode ? with_stale(n->inode, fn) : ret;
}

static struct iot_target *do_nothing(struct iot_target *t, struct iot_target_path *tp)
{
	return NULL;
}

/*
 * Call @fn for the path, or @scope_fn for the scope, that a text stands for. A text of
 * processes is no path, also if there is a file of that name. Return: as with_path().
 */
static int with_meant(const char *text, path_fn fn,
		      int (*scope_fn)(const char *text, const struct iot_named *n))
{
	struct iot_named n;
	int ret;

	if (iot_tasks_is_text(text))
		return scope_fn(text, NULL);
	ret = iot_named_get(&n, text);
	if (ret)
		return ret;
	ret = with_path(&n, fn) ?: scope_fn(text, &n);
	iot_named_put(&n);
	return ret;
}

static int is_listed(const char *text)
{
	return with_meant(text, do_nothing, iot_scope_target_is_listed);
}

static int remove(char *text)
{
	char *raw;
	int err;

	if (strlen(text) >= 4 * PATH_MAX)
		return -ENAMETOOLONG;
	raw = kstrdup(text, GFP_KERNEL);
	if (!raw)
		return -ENOMEM;
	err = *text ? iot_path_unescape(text) : -EINVAL;
	if (!err && strlen(text) >= PATH_MAX)
		err = -ENAMETOOLONG;
	if (err)
		goto free_raw;
	err = with_meant(text, remove_path, iot_scope_target_remove);
	if (!err)
		err = why_missing(raw, is_listed);
	else if (err > 0)
		err = 0;
free_raw:
	kfree(raw);
	return err;
}

static const struct {
	int err;
	const char *why;
} errors[] = {
	{ -ENOENT, "there is no such file, or it is not traced" },
	{ -EINVAL, "the path is empty or has \\000, or what follows it is no number of events" },
	{ -EACCES, "the file may not be read, or it is a device on a mount with nodev" },
	{ -EOPNOTSUPP, "it is no file, directory or block device, or is not read by read_iter" },
	{ -ENOSPC, "32 directories, or 32 groups of processes, are traced, the most: remove one" },
	{ -ENAMETOOLONG, "the path, or a name in it, is too long" },
	{ -ELOOP, "too many symbolic links" },
	{ -ENOTDIR, "a part of the path is no directory" },
};

static int explain(int err, struct iot_why *why)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].err == err)
			return iot_why(why, err, "%s", errors[i].why);
	return err;
}

static int run(void *data, char *line, struct iot_why *why)
{
	if (!strncmp(line, "add ", 4))
		return explain(add(line + 4, why), why);
	if (!strncmp(line, "remove ", 7))
		return explain(remove(line + 7), why);
	return iot_why(why, -EINVAL,
		       "there is no such command; say add [-i] [-a] [-n] PATH [MAX_EVENTS] or remove PATH");
}

static int control_line(void *data, char *line)
{
	return iot_refusal_run(&refusal, line, NULL, run);
}

static void show_target(struct iot_target *t, void *data)
{
	struct seq_file *m = data;
	struct iot_target_path *tp;

	iot_path_escape(m, t->name.text);
	list_for_each_entry(tp, &t->paths, list) {
		seq_putc(m, ' ');
		iot_path_escape(m, tp->path);
		if (!tp->here)
			seq_puts(m, " (deleted)");
	}
	seq_putc(m, '\n');
}

static int control_show(struct seq_file *m, void *v)
{
	if (iot_targets_enter())
		return -EINTR;
	iot_target_for_each(show_target, m);
	iot_targets_leave();
	return iot_scope_target_show(m);
}

static int error_show(struct seq_file *m, void *v)
{
	iot_refusal_show(m, &refusal);
	return 0;
}

static int hooks_show(struct seq_file *m, void *v)
{
	seq_puts(m, "symbol operation mechanism users missed prototype error\n");
	iot_sites_show(m, true);
	iot_points_show(m);
	iot_sites_show(m, false);
	iot_left_out_show(m);
	return 0;
}

static int format_show(struct seq_file *m, void *v)
{
	iot_format_show(m);
	return 0;
}

/*
 * Show the memory limit and the memory in use after all pending frees are done, and how far
 * a lookup of a running target has to go at worst.
 */
static int memory_show(struct seq_file *m, void *v)
{
	struct iot_target_index_chains chains;

	iot_budget_settle();
	iot_target_index_chains(&chains);
	seq_printf(m, "limit %llu\nused %llu\n", iot_param_ring_memory_limit(),
		   iot_budget_used());
	seq_printf(m, "targets_running %llu\nbuckets %llu\nlongest_chain %llu\n",
		   chains.running, chains.buckets, chains.longest);
	return 0;
}

static const struct iot_procfile files[] = {
	{ "control", .show = control_show, .line = control_line },
	{ "error", .show = error_show },
	{ "hooks", .show = hooks_show },
	{ "format", .show = format_show },
	{ "memory", .show = memory_show },
	{ "paths", .ops = &iot_paths_ops },
};

/** iot_control_has() - check for the name of an entry of /proc/iotracer that is no target */
bool iot_control_has(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (!strcmp(files[i].name, name))
			return true;
	return iot_categories_have(name);
}

static int make_files(void)
{
	return iot_procfile_mkdir(&root, "iotracer", NULL, NULL) ?:
	       iot_procfile_create(&root, files, ARRAY_SIZE(files)) ?:
	       iot_registry_mkdir(&root);
}

/** iot_control_init() - make /proc/iotracer, and let tasks in. Context: load, the last part */
int iot_control_init(void)
{
	int err = iot_discard_init();

	if (err)
		return err;
	err = make_files();
	if (err)
		iot_control_exit();
	else
		iot_visits_begin();
	return err;
}

/**
 * iot_control_exit() - remove /proc/iotracer, and wait for tasks that are in it
 *
 * Those leave soon: no call that may last holds the module any more (core/visit.c).
 */
void iot_control_exit(void)
{
	iot_targets_close();
	iot_scope_target_close();
	iot_poller_close();
	iot_discard_exit();
	proc_remove(root.entry);
	iot_poller_exit();
}
