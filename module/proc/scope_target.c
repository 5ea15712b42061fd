// SPDX-License-Identifier: GPL-2.0
/*
 * Targets that are scopes (record/scope.h): a directory, with the operations on anything below it,
 * or processes, with their operations on any file.
 *
 * The events are those of category fs, in the log of the scope. The directory of such a
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
#include "record/scope.h"
#include "proc/category_files.h"
#include "proc/discard.h"
#include "proc/entry_name.h"
#include "proc/log_files.h"
#include "proc/procfile.h"
#include "proc/scope_line.h"
#include "proc/scope_target.h"
#include "proc/target_stats.h"

/**
 * struct scope_target - a directory whose contents are traced, or processes that are
 * @scope:	its events
 * @list:	in the list of all, under both locks
 * @name:	of its directory in /proc/iotracer
 * @proc:	that directory
 * @dev:	device number of the traced directory as stat(2) gives it
 * @ino:	its inode number as stat(2) gives it
 * @path:	under which the traced directory was added and is listed
 */
struct scope_target {
	struct iot_scope scope;
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

static struct scope_target *target_of(struct iot_log *log)
{
	return container_of(log, struct scope_target, scope.c.log);
}

static bool is_of_tasks(const struct scope_target *t)
{
	return t->scope.c.of_tasks;
}

/* How their logs are shown */

static void show_line(struct seq_file *m, struct iot_log *log, const void *record, u64 t0)
{
	iot_scope_line(m, &target_of(log)->scope, record, t0);
}

static const struct iot_log_shown shown = {
	.of_category = true,
	.line = show_line,
};

/* control: as that of a file's target */

static int control_show(struct seq_file *m, void *v)
{
	struct iot_log *log = iot_procfile_shown(m);

	iot_target_state_show(m, log, READ_ONCE(target_of(log)->scope.c.started));
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

static void show_identity(struct seq_file *m, const struct scope_target *t)
{
	if (is_of_tasks(t)) {
		seq_puts(m, "\ntasks ");
		iot_tasks_show(m, &t->scope.tasks);
	} else {
		seq_printf(m, "\ndevice %u:%u\ninode %llu\ngeneration %u", MAJOR(t->dev),
			   MINOR(t->dev), t->ino, t->scope.root.key.generation);
	}
}

/* stats: as that of a file's target */
static int stats_show(struct seq_file *m, void *v)
{
	struct iot_log *log = iot_procfile_shown(m);
	struct scope_target *t = target_of(log);
	struct iot_log_stats stats;
	u64 missed[IOT_LEVELS] = {};

	iot_log_stats(log, &stats);
	missed[IOT_LEVEL_VFS] = iot_scope_missed(&t->scope,
						 iot_category_missed(&t->scope.c));
	seq_puts(m, "target ");
	iot_path_escape(m, t->name.text);
	show_identity(m, t);
	seq_printf(m, "\nmax_events %llu\nmemory_bytes %zu\n", stats.keep,
		   stats.bytes + sizeof(*t));
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

static struct scope_target *alloc_target(const char *path)
{
	size_t size = strlen(path) + 1;
	struct scope_target *t = kzalloc(struct_size(t, path, size), GFP_KERNEL);

	if (t)
		memcpy(t->path, path, size);
	return t;
}

static void release(struct iot_discard *proc)
{
	struct scope_target *t = container_of(proc, struct scope_target, proc);

	iot_entry_name_put(&t->name);
	iot_scope_free(&t->scope);
	if (is_of_tasks(t))
		iot_tasks_put(&t->scope.tasks);
	kfree(t);
}

/* Stop a target that is in no list, and remove its directory. */
static void discard(struct scope_target *t)
{
	iot_scope_end(&t->scope);
	iot_discard(&t->proc, release);
}

static void enlist(struct scope_target *t)
{
	mutex_lock(&list_lock);
	list_add_tail(&t->list, &all);
	mutex_unlock(&list_lock);
}

static void delist(struct scope_target *t)
{
	mutex_lock(&list_lock);
	list_del(&t->list);
	mutex_unlock(&list_lock);
}

/*
 * Make the entry of a target in /proc/iotracer, and start it. After an error the target is
 * discarded.
 */
static int begin(struct scope_target *t, struct iot_procdir *parent, struct iot_why *why)
{
	struct iot_category *c = &t->scope.c;
	int err;

	c->log.shown = &shown;
	err = iot_procfile_mkdir(&t->proc.dir, t->name.text, parent, &c->log) ?:
	      iot_procfile_create(&t->proc.dir, files, ARRAY_SIZE(files)) ?:
	      iot_category_start(c, NULL, why);
	if (err)
		discard(t);
	else
		enlist(t);
	return err;
}

/* Make a target of a directory. */
static int create(struct inode *inode, const struct kstat *stat, const char *text, u64 max_events,
		  struct iot_procdir *parent, struct iot_why *why)
{
	struct scope_target *t = alloc_target(text);
	int err;

	if (!t)
		return -ENOMEM;
	t->dev = stat->dev;
	t->ino = stat->ino;
	iot_entry_name_of_file(&t->name, inode->i_sb, stat->ino);
	err = iot_entry_name_take_free(&t->name);
	if (err)
		goto free;
	err = iot_scope_init_dir(&t->scope, t->name.text, inode, max_events);
	if (!err)
		return begin(t, parent, why);
	iot_entry_name_put(&t->name);
free:
	kfree(t);
	return err;
}

/* Find the target of a directory, or the one that is listed under a path. Under a lock. */
static struct scope_target *find(struct inode *inode, const char *text)
{
	struct scope_target *t;

	list_for_each_entry(t, &all, list) {
		if (is_of_tasks(t))
			continue;
		if (inode ? iot_key_is(&t->scope.root.key, inode) : !strcmp(t->path, text))
			return t;
	}
	return NULL;
}

static int resize(struct scope_target *t, u64 max_events, struct iot_why *why)
{
	if (!max_events || max_events == READ_ONCE(t->scope.c.log.keep))
		return 0;
	return iot_category_resize(&t->scope.c, max_events, why);
}

static int add_text(const struct path *path, const char *text, u64 max_events,
		    struct iot_procdir *parent, struct iot_why *why)
{
	struct inode *inode = d_inode(path->dentry);
	struct scope_target *t;
	struct kstat stat;
	int err;

	err = vfs_getattr(path, &stat, STATX_INO, AT_STATX_DONT_SYNC) ?: begin_change();
	if (err)
		return err;
	t = find(inode, NULL);
	err = t ? resize(t, max_events, why) :
		  create(inode, &stat, text, max_events, parent, why);
	mutex_unlock(&change_lock);
	return err;
}

/**
 * iot_scope_target_add() - trace what is below a directory
 * @path:	of the directory
 * @max_events:	events that each CPU keeps, 0 for IOT_CATEGORY_KEEP or what it has. Another number
 *		than it has empties its log
 * @parent:	/proc/iotracer
 * @why:	where to report why it is refused
 *
 * Context: task, may sleep for seconds: the kernel patches its text. Return: 0 or an error, among
 * them -ENOSPC if IOT_BELOW_MAX directories are traced, and those of iot_category_start().
 */
int iot_scope_target_add(const struct path *path, u64 max_events, struct iot_procdir *parent,
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
static struct scope_target *find_same(const struct iot_tasks *tasks)
{
	struct scope_target *t;

	list_for_each_entry(t, &all, list)
		if (is_of_tasks(t) && iot_tasks_are_same(&t->scope.tasks, tasks))
			return t;
	return NULL;
}

static void drop_of_tasks(struct scope_target *t)
{
	iot_tasks_put(&t->scope.tasks);
	kfree(t);
}

/* Make a target of processes. After an error it is freed. */
static int create_of_tasks(struct scope_target *t, u64 max_events, bool sockets,
			   struct iot_procdir *parent, struct iot_why *why)
{
	int err;

	iot_tasks_name(&t->scope.tasks, t->name.text, sizeof(t->name.text) - 8);
	err = iot_entry_name_take_free(&t->name);
	if (err)
		goto drop;
	err = iot_scope_init_tasks(&t->scope, t->name.text, max_events);
	if (err)
		goto put_name;
	err = begin(t, parent, why);
	if (err || !sockets)
		return err;
	err = iot_scope_add_sockets(&t->scope, why);
	if (err) {
		delist(t);
		discard(t);
	}
	return err;

put_name:
	iot_entry_name_put(&t->name);
drop:
	drop_of_tasks(t);
	return err;
}

/* Start a target of processes, or free it if they have one, which gets what it lacks. */
static int settle(struct scope_target *t, u64 max_events, bool sockets,
		  struct iot_procdir *parent, struct iot_why *why)
{
	struct scope_target *same = find_same(&t->scope.tasks);
	int err;

	if (!same)
		return create_of_tasks(t, max_events, sockets, parent, why);
	drop_of_tasks(t);
	err = resize(same, max_events, why);
	if (err || !sockets)
		return err;
	return iot_scope_add_sockets(&same->scope, why);
}

/**
 * iot_scope_target_add_tasks() - trace processes
 * @text:	for iot_tasks_get()
 * @max_events:	as for iot_scope_target_add(), like @parent and @why
 * @sockets:	record also what they do with sockets, from now on
 *
 * Context: as there. Return: 0 or an error, among them -ENOSPC if IOT_SCOPES_OF_TASKS_MAX are
 * traced, and those of iot_tasks_get() and iot_category_start().
 */
int iot_scope_target_add_tasks(const char *text, u64 max_events, bool sockets,
			       struct iot_procdir *parent, struct iot_why *why)
{
	struct scope_target *t = alloc_target("");
	int err;

	if (!t)
		return -ENOMEM;
	err = iot_tasks_get(&t->scope.tasks, text, why);
	if (err) {
		kfree(t);
		return err;
	}
	err = begin_change();
	if (err) {
		drop_of_tasks(t);
		return err;
	}
	err = settle(t, max_events, sockets, parent, why);
	mutex_unlock(&change_lock);
	return err;
}

/* Find the target of the processes that a text means. Under @change_lock. */
static struct scope_target *find_tasks(const char *text)
{
	struct scope_target *t;

	list_for_each_entry(t, &all, list)
		if (is_of_tasks(t) && iot_tasks_match(&t->scope.tasks, text))
			return t;
	return NULL;
}

/*
 * Find a target by the text of its processes; or by a path under which it is listed, that leads to
 * its directory, or that is the listed one if made absolute. Under @change_lock, so nothing is
 * looked up.
 */
static struct scope_target *find_meant(const char *text, const struct iot_named *n)
{
	struct scope_target *t;

	if (!n)
		return find_tasks(text);
	t = find(NULL, text);
	if (!t && n->inode)
		t = find(n->inode, NULL);
	if (!t && !IS_ERR(n->absolute))
		t = find(NULL, n->absolute);
	return t;
}

/**
 * iot_scope_target_remove() - stop tracing
 * @n:		what @text leads to; NULL if it means processes
 *
 * Return: 1, 0 if there is no such target, or an error.
 */
int iot_scope_target_remove(const char *text, const struct iot_named *n)
{
	struct scope_target *t;
	int err = begin_change();

	if (err)
		return err;
	t = find_meant(text, n);
	if (t) {
		delist(t);
		discard(t);
	}
	mutex_unlock(&change_lock);
	return !!t;
}

/**
 * iot_scope_target_is_listed() - as above, but only check
 *
 * Return: 1, 0 if there is none, or an error.
 */
int iot_scope_target_is_listed(const char *text, const struct iot_named *n)
{
	int found = begin_change();

	if (found)
		return found;
	found = !!find_meant(text, n);
	mutex_unlock(&change_lock);
	return found;
}

static void show_listed(struct seq_file *m, const struct scope_target *t)
{
	iot_path_escape(m, t->name.text);
	seq_putc(m, ' ');
	if (!is_of_tasks(t))
		iot_path_escape(m, t->path);
	else
		iot_tasks_show(m, &t->scope.tasks);
	if (READ_ONCE(t->scope.c.also))
		seq_puts(m, " (network)");
	seq_puts(m, is_of_tasks(t) && !iot_tasks_exist(&t->scope.tasks) ? " (ended)\n" : "\n");
}

/** iot_scope_target_show() - list the targets in the order of their adding. Return: 0 or -EINTR */
int iot_scope_target_show(struct seq_file *m)
{
	struct scope_target *t;

	if (mutex_lock_killable(&list_lock))
		return -EINTR;
	list_for_each_entry(t, &all, list)
		show_listed(m, t);
	mutex_unlock(&list_lock);
	return 0;
}

/** iot_scope_target_close() - prevent all changes from now on. Context: unload */
void iot_scope_target_close(void)
{
	mutex_lock(&change_lock);
	closed = true;
	mutex_unlock(&change_lock);
}

/** iot_scope_target_remove_all() - remove all targets at unload, when /proc/iotracer is gone */
void iot_scope_target_remove_all(void)
{
	struct scope_target *t, *next;

	list_for_each_entry_safe(t, next, &all, list) {
		list_del(&t->list);
		iot_scope_end(&t->scope);
		release(&t->proc);
	}
}
