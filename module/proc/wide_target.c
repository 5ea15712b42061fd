// SPDX-License-Identifier: GPL-2.0
/*
 * Targets wider than a file: a directory, with the operations on anything below it, or processes,
 * with their operations on any file.
 *
 * The events are those of category fs, in the rings of a branch (branch.h). The directory of such a
 * target in /proc/iotracer has the files of a category, except control and stats, which are like
 * those of a target that is a file.
 *
 * The target stays with a directory as long as that exists, also when it is renamed. No reference
 * to it is held: it can be removed, and its filesystem unmounted, as if there were no target. If a
 * process exits, or a control group is removed, the target stays until it is removed.
 *
 * Locks: @change_lock serialises adding and removing targets, and is held while the kernel patches
 * its text. Paths are looked up before it is taken, so that its holder waits for no filesystem.
 * @list_lock protects the list, and is held for a short time. Probes take neither.
 */
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/string.h>
#include "compat/compat.h"
#include "core/refusal.h"
#include "file/path.h"
#include "file/paths.h"
#include "record/branch.h"
#include "proc/category_files.h"
#include "proc/discard.h"
#include "proc/entry_name.h"
#include "proc/log_files.h"
#include "proc/procfile.h"
#include "proc/target_stats.h"
#include "proc/wide_line.h"
#include "proc/wide_target.h"

/**
 * struct wide_target - a directory whose contents are traced, or processes that are
 * @branch:	its events
 * @list:	in the list of all, under both locks
 * @name:	of its directory in /proc/iotracer
 * @proc:	that directory
 * @dev:	device number of the traced directory as stat(2) gives it
 * @ino:	its inode number as stat(2) gives it
 * @path:	under which the traced directory was added and is listed
 */
struct wide_target {
	struct iot_branch branch;
	struct list_head list;
	struct iot_entry_name name;
	struct iot_discard proc;
	dev_t dev;
	u64 ino;
	char path[];
};

static DEFINE_MUTEX(change_lock);	/* serialises changes; @list_lock is taken inside */
static bool closed;			/* the module is being unloaded: no more changes */

static DEFINE_MUTEX(list_lock);		/* protects @all */
static LIST_HEAD(all);

static int begin_change(void)
{
	if (mutex_lock_killable(&change_lock))
		return -EINTR;
	if (!closed)
		return 0;
	mutex_unlock(&change_lock);
	return -ENODEV;
}

static struct wide_target *target_of(struct iot_log *log)
{
	return container_of(log, struct wide_target, branch.c.log);
}

static bool is_of_tasks(const struct wide_target *d)
{
	return d->branch.c.anywhere;
}

/* How their logs are shown */

static void show_line(struct seq_file *m, struct iot_log *log, const void *record, u64 t0)
{
	iot_wide_line(m, &target_of(log)->branch, record, t0);
}

static const struct iot_log_shown shown = {
	.of_category = true,
	.line = show_line,
};

/* control: as that of a file's target */

static int control_show(struct seq_file *m, void *v)
{
	struct iot_log *log = iot_procfile_shown(m);

	iot_target_state_show(m, log, READ_ONCE(target_of(log)->branch.c.started));
	return 0;
}

static int control_run(void *data, char *line, struct iot_why *why)
{
	struct iot_category *c = data;

	if (!strcmp(line, "start"))
		return iot_category_start(c, NULL, why);
	if (!strcmp(line, "stop"))
		return iot_category_stop(c);
	if (!strcmp(line, "reset") || !strcmp(line, "timereset")) {
		iot_category_reset(c, !strcmp(line, "timereset"));
		return 0;
	}
	return iot_why(why, -EINVAL,
		       "there is no such command; say start, stop, reset or timereset");
}

static int control_line(void *data, char *line)
{
	struct iot_category *c = iot_log_category(data);

	return iot_refusal_run(&c->refusal, line, c, control_run);
}

static void show_identity(struct seq_file *m, const struct wide_target *d)
{
	if (is_of_tasks(d)) {
		seq_puts(m, "\ntasks ");
		iot_tasks_show(m, &d->branch.tasks);
	} else {
		seq_printf(m, "\ndevice %u:%u\ninode %llu\ngeneration %u", MAJOR(d->dev),
			   MINOR(d->dev), d->ino, d->branch.root.key.generation);
	}
}

/* stats: as that of a file's target */
static int stats_show(struct seq_file *m, void *v)
{
	struct iot_log *log = iot_procfile_shown(m);
	struct wide_target *d = target_of(log);
	struct iot_log_stats stats;
	u64 missed[IOT_LEVELS] = {};

	iot_log_stats(log, &stats);
	missed[IOT_LEVEL_VFS] = iot_branch_missed(&d->branch,
						  iot_category_missed(&d->branch.c));
	seq_puts(m, "target ");
	iot_path_escape(m, d->name.text);
	show_identity(m, d);
	seq_printf(m, "\nmax_events %llu\nmemory_bytes %zu\n", stats.keep,
		   stats.bytes + sizeof(*d));
	iot_target_counts_show(m, &stats.rings, missed);
	return 0;
}

static const struct iot_procfile files[] = {
	{ "control", .show = control_show, .line = control_line },
	{ "error", .show = iot_category_error_show },
	{ "log", .ops = &iot_log_text_ops },
	{ "pipe", .ops = &iot_log_pipe_ops },
	{ "stream", .ops = &iot_log_stream_ops },
	{ "stats", .show = stats_show },
};

/* Adding and removing */

/* Check that a directory can be traced and that current may read it. */
static int check(const struct path *path, struct iot_why *why)
{
	struct inode *inode = d_inode(path->dentry);

	if (iot_paths_kind(inode) != IOT_KIND_DIR)
		return iot_why(why, -EOPNOTSUPP,
			       "it is on a filesystem that shows the kernel's own state: trace category fs with filter kind=pseudo");
	return iot_inode_permission(path->mnt, inode, MAY_READ | MAY_EXEC);
}

static struct wide_target *alloc_target(const char *path)
{
	size_t size = strlen(path) + 1;
	struct wide_target *d = kzalloc(struct_size(d, path, size), GFP_KERNEL);

	if (d)
		memcpy(d->path, path, size);
	return d;
}

static void release(struct iot_discard *proc)
{
	struct wide_target *d = container_of(proc, struct wide_target, proc);

	iot_entry_name_put(&d->name);
	iot_branch_free(&d->branch);
	if (is_of_tasks(d))
		iot_tasks_put(&d->branch.tasks);
	kfree(d);
}

/* Stop a target that is in no list, and remove its directory. */
static void discard(struct wide_target *d)
{
	iot_branch_end(&d->branch);
	iot_discard(&d->proc, release);
}

static void enlist(struct wide_target *d)
{
	mutex_lock(&list_lock);
	list_add_tail(&d->list, &all);
	mutex_unlock(&list_lock);
}

static void delist(struct wide_target *d)
{
	mutex_lock(&list_lock);
	list_del(&d->list);
	mutex_unlock(&list_lock);
}

/*
 * Make the entry of a target in /proc/iotracer, and start it. After an error the target is
 * discarded.
 */
static int begin(struct wide_target *d, struct iot_procdir *parent, struct iot_why *why)
{
	struct iot_category *c = &d->branch.c;
	int err;

	c->log.shown = &shown;
	err = iot_procfile_mkdir(&d->proc.dir, d->name.text, parent, &c->log) ?:
	      iot_procfile_create(&d->proc.dir, files, ARRAY_SIZE(files)) ?:
	      iot_category_start(c, NULL, why);
	if (err)
		discard(d);
	else
		enlist(d);
	return err;
}

/* Make a target of a directory. */
static int create(struct inode *inode, const struct kstat *stat, const char *text, u64 max_events,
		  struct iot_procdir *parent, struct iot_why *why)
{
	struct wide_target *d = alloc_target(text);
	int err;

	if (!d)
		return -ENOMEM;
	d->dev = stat->dev;
	d->ino = stat->ino;
	iot_entry_name_of_file(&d->name, inode->i_sb, stat->ino);
	err = iot_entry_name_take_free(&d->name);
	if (err)
		goto free;
	err = iot_branch_init_dir(&d->branch, d->name.text, inode, max_events);
	if (!err)
		return begin(d, parent, why);
	iot_entry_name_put(&d->name);
free:
	kfree(d);
	return err;
}

/* Find the target of a directory, or the one that is listed under a path. Under a lock. */
static struct wide_target *find(struct inode *inode, const char *text)
{
	struct wide_target *d;

	list_for_each_entry(d, &all, list) {
		if (is_of_tasks(d))
			continue;
		if (inode ? iot_key_is(&d->branch.root.key, inode) : !strcmp(d->path, text))
			return d;
	}
	return NULL;
}

static int resize(struct wide_target *d, u64 max_events, struct iot_why *why)
{
	if (!max_events || max_events == READ_ONCE(d->branch.c.log.keep))
		return 0;
	return iot_category_resize(&d->branch.c, max_events, why);
}

static int add_text(const struct path *path, const char *text, u64 max_events,
		    struct iot_procdir *parent, struct iot_why *why)
{
	struct inode *inode = d_inode(path->dentry);
	struct wide_target *d;
	struct kstat stat;
	int err;

	err = vfs_getattr(path, &stat, STATX_INO, AT_STATX_DONT_SYNC) ?: begin_change();
	if (err)
		return err;
	d = find(inode, NULL);
	err = d ? resize(d, max_events, why) :
		  create(inode, &stat, text, max_events, parent, why);
	mutex_unlock(&change_lock);
	return err;
}

/**
 * iot_wide_add() - trace what is below a directory
 * @path:	of the directory
 * @max_events:	events that each CPU keeps, 0 for IOT_CATEGORY_KEEP or what it has. Another number
 *		than it has empties its log
 * @parent:	/proc/iotracer
 * @why:	where to report why it is refused
 *
 * Context: task, may sleep for seconds: the kernel patches its text. Return: 0 or an error, among
 * them -ENOSPC if IOT_BELOW_MAX directories are traced, and those of iot_category_start().
 */
int iot_wide_add(const struct path *path, u64 max_events, struct iot_procdir *parent,
		 struct iot_why *why)
{
	int err = check(path, why);
	char *buf, *text;

	if (err)
		return err;
	buf = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	text = iot_path_text(path, buf);
	err = IS_ERR(text) ? PTR_ERR(text) : add_text(path, text, max_events, parent, why);
	kfree(buf);
	return err;
}

/* Find the target of the same processes. */
static struct wide_target *find_same(const struct iot_tasks *tasks)
{
	struct wide_target *d;

	list_for_each_entry(d, &all, list)
		if (is_of_tasks(d) && iot_tasks_are_same(&d->branch.tasks, tasks))
			return d;
	return NULL;
}

static void drop_of_tasks(struct wide_target *d)
{
	iot_tasks_put(&d->branch.tasks);
	kfree(d);
}

/* Make a target of processes. After an error it is freed. */
static int create_of_tasks(struct wide_target *d, u64 max_events, bool sockets,
			   struct iot_procdir *parent, struct iot_why *why)
{
	int err;

	iot_tasks_name(&d->branch.tasks, d->name.text, sizeof(d->name.text) - 8);
	err = iot_entry_name_take_free(&d->name);
	if (err)
		goto drop;
	err = iot_branch_init_tasks(&d->branch, d->name.text, max_events);
	if (err)
		goto put_name;
	err = begin(d, parent, why);
	if (err || !sockets)
		return err;
	err = iot_branch_add_sockets(&d->branch, why);
	if (err) {
		delist(d);
		discard(d);
	}
	return err;

put_name:
	iot_entry_name_put(&d->name);
drop:
	drop_of_tasks(d);
	return err;
}

/* Start a target of processes, or free it if they have one, which gets what it lacks. */
static int settle(struct wide_target *d, u64 max_events, bool sockets,
		  struct iot_procdir *parent, struct iot_why *why)
{
	struct wide_target *same = find_same(&d->branch.tasks);
	int err;

	if (!same)
		return create_of_tasks(d, max_events, sockets, parent, why);
	drop_of_tasks(d);
	err = resize(same, max_events, why);
	if (err || !sockets)
		return err;
	return iot_branch_add_sockets(&same->branch, why);
}

/**
 * iot_wide_add_tasks() - trace processes
 * @text:	for iot_tasks_get()
 * @max_events:	as for iot_wide_add(), like @parent and @why
 * @sockets:	record also what they do with sockets, from now on
 *
 * Context: as there. Return: 0 or an error, among them -ENOSPC if IOT_BRANCHES_OF_TASKS_MAX are
 * traced, and those of iot_tasks_get() and iot_category_start().
 */
int iot_wide_add_tasks(const char *text, u64 max_events, bool sockets, struct iot_procdir *parent,
		       struct iot_why *why)
{
	struct wide_target *d = alloc_target("");
	int err;

	if (!d)
		return -ENOMEM;
	err = iot_tasks_get(&d->branch.tasks, text, why);
	if (err) {
		kfree(d);
		return err;
	}
	err = begin_change();
	if (err) {
		drop_of_tasks(d);
		return err;
	}
	err = settle(d, max_events, sockets, parent, why);
	mutex_unlock(&change_lock);
	return err;
}

/* Find the target of the processes that a text means. Under @change_lock. */
static struct wide_target *find_tasks(const char *text)
{
	struct wide_target *d;

	list_for_each_entry(d, &all, list)
		if (is_of_tasks(d) && iot_tasks_match(&d->branch.tasks, text))
			return d;
	return NULL;
}

/*
 * Find a target by the text of its processes; or by a path under which it is listed, that leads to
 * its directory, or that is the listed one if made absolute. Under @change_lock, so nothing is
 * looked up.
 */
static struct wide_target *find_meant(const char *text, const struct iot_named *n)
{
	struct wide_target *d;

	if (!n)
		return find_tasks(text);
	d = find(NULL, text);
	if (!d && n->inode)
		d = find(n->inode, NULL);
	if (!d && !IS_ERR(n->absolute))
		d = find(NULL, n->absolute);
	return d;
}

/**
 * iot_wide_remove() - stop tracing
 * @n:		what @text leads to; NULL if it means processes
 *
 * Return: 1, 0 if there is no such target, or an error.
 */
int iot_wide_remove(const char *text, const struct iot_named *n)
{
	struct wide_target *d;
	int err = begin_change();

	if (err)
		return err;
	d = find_meant(text, n);
	if (d) {
		delist(d);
		discard(d);
	}
	mutex_unlock(&change_lock);
	return !!d;
}

/** iot_wide_is_listed() - as above, but only check. Return: 1, 0 if there is none, or an error */
int iot_wide_is_listed(const char *text, const struct iot_named *n)
{
	int found = begin_change();

	if (found)
		return found;
	found = !!find_meant(text, n);
	mutex_unlock(&change_lock);
	return found;
}

static void show_listed(struct seq_file *m, const struct wide_target *d)
{
	iot_path_escape(m, d->name.text);
	seq_putc(m, ' ');
	if (!is_of_tasks(d))
		iot_path_escape(m, d->path);
	else
		iot_tasks_show(m, &d->branch.tasks);
	if (READ_ONCE(d->branch.c.also))
		seq_puts(m, " (network)");
	seq_puts(m, is_of_tasks(d) && !iot_tasks_exist(&d->branch.tasks) ? " (ended)\n" : "\n");
}

/** iot_wide_show() - list the targets in the order of their adding. Return: 0 or -EINTR */
int iot_wide_show(struct seq_file *m)
{
	struct wide_target *d;

	if (mutex_lock_killable(&list_lock))
		return -EINTR;
	list_for_each_entry(d, &all, list)
		show_listed(m, d);
	mutex_unlock(&list_lock);
	return 0;
}

/** iot_wide_close() - prevent all changes from now on. Context: unload */
void iot_wide_close(void)
{
	mutex_lock(&change_lock);
	closed = true;
	mutex_unlock(&change_lock);
}

/** iot_wide_remove_all() - remove all targets at unload, when /proc/iotracer is gone */
void iot_wide_remove_all(void)
{
	struct wide_target *d, *next;

	list_for_each_entry_safe(d, next, &all, list) {
		list_del(&d->list);
		iot_branch_end(&d->branch);
		release(&d->proc);
	}
}
