// SPDX-License-Identifier: GPL-2.0
/*
 * Where filesystems are mounted, for the paths of files that were opened before tracing.
 *
 * The kernel's list of mounts is private; its interface is /proc/1/mountinfo
 * (Documentation/filesystems/proc.rst). No process can influence which file that is: a kernel
 * worker opens it, with the credentials and in the pid namespace of the kernel, in a procfs
 * that it mounts for itself and at no mount point.
 *
 * The worker waits for changes as a program that polls the file does (fs/proc_namespace.c).
 * A task that changes mounts calls changed(), with the kernel's locks held. This makes the
 * table stale and lets the worker read the file again. A stale table is not used. Renaming a
 * directory above a mount is no change of mounts, so every second the worker checks whether
 * there was a rename anywhere, and if so reads the file again.
 *
 * Only the worker uses the open file, so no task waits for a lock that is held while the file is
 * read. Reading it asks filesystems for their options, and one may wait for its disk then, for ever
 * (btrfs looks up the name of a subvolume). So the module is not unloaded meanwhile (core/visit.c).
 * The worker opens it when there is a user and closes it when there is none. The table is
 * looked up under RCU; the worker frees the old one after a grace period.
 */
#include <linux/atomic.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kdev_t.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/poll.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/seqlock.h>
#include <linux/siphash.h>
#include <linux/sizes.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "core/visit.h"
#include "file/mounts.h"
#include "file/path.h"

#define TEXT_MAX	SZ_4M
#define READ_GAP	(HZ / 20)	/* least time between two readings of the file */
#define LOOK_AGAIN	HZ

/* Limit to the names of a path, and to the mounts, that are searched with interrupts off. */
#define STEPS_AT_ONCE	64
#define MOUNTS_AT_ONCE	64

/**
 * struct mount_at - one mount
 * @dev:	device of its filesystem
 * @root:	the mounted directory: its path in the filesystem, "" for the whole filesystem
 * @point:	path of the mount point from the root of process 1, "" for that root
 */
struct mount_at {
	dev_t dev;
	const char *root;
	const char *point;
};

/**
 * struct mounts - the table of all mounts
 * @changes:	count of changes of mounts up to which the table is current
 * @print:	hash of the text as it was read
 * @text:	the text, which @at points into
 * @at:		the mounts, sorted by device, then by the length of @root, then by @root. Of
 *		several mounts with the same root the table has only the first
 */
struct mounts {
	u32 changes;
	u64 print;
	char *text;
	unsigned int nr;
	struct mount_at at[];
};

/** struct watch - the open mountinfo, and our entry in the queue of tasks that poll it */
struct watch {
	struct file *file;
	wait_queue_head_t *queue;
	wait_queue_entry_t entry;
	poll_table table;
};

static struct mounts __rcu *mounts;
static atomic_t users;
static atomic_t changes = ATOMIC_INIT(1);	/* changes of mounts noticed so far */

/* Used by the worker only. */
static struct vfsmount *proc;
static struct watch watch;
static siphash_key_t print_key;
static unsigned int renames;		/* sequence of rename_lock when the file was last read */

static unsigned long read_at;		/* jiffies when the file was last read */
static unsigned int tries;		/* attempts to read the file, including failed ones */
static DECLARE_WAIT_QUEUE_HEAD(tried);

static void work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(work, work_fn);

/* Read the whole file and append a NUL. Return: the text, for kvfree(), or an error. */
static char *read_text(struct file *file)
{
	size_t size = SZ_16K, len = 0;
	char *text = kvmalloc(size, GFP_KERNEL), *larger;
	loff_t pos = 0;
	ssize_t n;

	while (text) {
		n = kernel_read(file, text + len, size - 1 - len, &pos);
		if (n < 0 || size > TEXT_MAX) {
			kvfree(text);
			return ERR_PTR(n < 0 ? n : -EFBIG);
		}
		if (!n) {
			text[len] = '\0';
			return text;
		}
		len += n;
		if (len < size - 1)
			continue;
		size *= 2;
		larger = kvmalloc(size, GFP_KERNEL);
		if (larger)
			memcpy(larger, text, len);
		kvfree(text);
		text = larger;
	}
	return ERR_PTR(-ENOMEM);
}

/* Unescape a path from mountinfo. Only the path of the root ends with a slash; it becomes "". */
static const char *path_of(char *text)
{
	iot_path_unescape(text);
	return strcmp(text, "/") ? text : "";
}

/* 36 35 98:0 /root /point ... */
static bool parse(char *line, struct mount_at *at)
{
	unsigned int major, minor;
	char *word[5];
	int i;

	for (i = 0; i < ARRAY_SIZE(word); i++)
		word[i] = strsep(&line, " ");
	if (!line || sscanf(word[2], "%u:%u", &major, &minor) != 2)
		return false;
	at->dev = MKDEV(major, minor);
	at->root = path_of(word[3]);
	at->point = path_of(word[4]);
	return true;
}

static void free_mounts(struct mounts *m)
{
	kvfree(m->text);
	kvfree(m);
}

/* Compare what two mounts show: by device, then by the length of the root, then by the root. */
static int compare_shown(const struct mount_at *a, const struct mount_at *b)
{
	size_t len = strlen(a->root), other = strlen(b->root);

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (len != other)
		return len < other ? -1 : 1;
	return strcmp(a->root, b->root);
}

/* As above. Mounts that show the same stay in the order in which mountinfo lists them. */
static int compare(const void *one, const void *two)
{
	const struct mount_at *a = one, *b = two;

	return compare_shown(a, b) ?: (a->point < b->point ? -1 : a->point > b->point);
}

/* Sort the table for find(), and drop the mounts that it would never return. */
static void arrange(struct mounts *m)
{
	unsigned int i, n = 0;

	sort(m->at, m->nr, sizeof(*m->at), compare, NULL);
	for (i = 0; i < m->nr; i++)
		if (!n || compare_shown(&m->at[n - 1], &m->at[i]))
			m->at[n++] = m->at[i];
	m->nr = n;
}

static struct mounts *read_mounts(struct file *file, u32 count)
{
	char *text = read_text(file), *rest = text;
	unsigned int lines = 0;
	struct mounts *m;
	char *at;

	if (IS_ERR(text))
		return ERR_CAST(text);
	for (at = text; (at = strchr(at, '\n')); at++)
		lines++;
	m = kvmalloc(struct_size(m, at, lines), GFP_KERNEL);
	if (!m) {
		kvfree(text);
		return ERR_PTR(-ENOMEM);
	}
	m->changes = count;
	m->print = siphash(text, strlen(text), &print_key);
	m->text = text;
	m->nr = 0;
	while (lines--)
		m->nr += parse(strsep(&rest, "\n"), &m->at[m->nr]);
	arrange(m);
	return m;
}

static void replace(struct mounts *new)
{
	struct mounts *old = rcu_replace_pointer(mounts, new, true);

	if (!old)
		return;
	synchronize_rcu();
	free_mounts(old);
}

/* Jiffies until the worker may read again. Context: any */
static unsigned long gap(void)
{
	unsigned long now = jiffies, next = READ_ONCE(read_at) + READ_GAP;

	return time_in_range(now, next - READ_GAP, next) ? next - now : 0;
}

/*
 * Note that the mounts have changed. Context: the task that changed them, interrupts off,
 * under the lock of the queue and mount_lock. A task that holds a lock of the workqueue never
 * waits for one of these locks.
 */
static int changed(wait_queue_entry_t *entry, unsigned int mode, int sync, void *key)
{
	atomic_inc(&changes);
	queue_delayed_work(system_unbound_wq, &work, gap());
	return 0;
}

/* Called by the file's ->poll. */
static void enqueue(struct file *file, wait_queue_head_t *queue, poll_table *table)
{
	struct watch *w = container_of(table, struct watch, table);

	if (w->queue)
		return;
	w->queue = queue;
	init_waitqueue_func_entry(&w->entry, changed);
	add_wait_queue(queue, &w->entry);
}

/* The queue exists as long as the file is open. */
static void unwatch(void)
{
	if (watch.queue)
		remove_wait_queue(watch.queue, &watch.entry);
	watch.queue = NULL;
	if (watch.file)
		__fput_sync(watch.file);
	watch.file = NULL;
}

static struct vfsmount *mount_proc(void)
{
	/* procfs is built in: there is no reference to drop */
	struct file_system_type *type = get_fs_type("proc");

	return type ? kern_mount(type) : ERR_PTR(-ENODEV);
}

/* Check that the file is not hidden by another: it must be of our mount, where nobody can mount. */
static bool is_ours(const struct file *file)
{
	return file->f_path.mnt == proc && file_inode(file)->i_sb->s_magic == PROC_SUPER_MAGIC &&
	       S_ISREG(file_inode(file)->i_mode);
}

static struct file *open_mountinfo(void)
{
	struct path root;
	struct file *file;

	if (!proc) {
		struct vfsmount *mnt = mount_proc();

		if (IS_ERR(mnt))
			return ERR_CAST(mnt);
		proc = mnt;
	}
	root.mnt = proc;
	root.dentry = proc->mnt_root;
	file = file_open_root(&root, "1/mountinfo", O_RDONLY, 0);
	if (IS_ERR(file) || is_ours(file))
		return file;
	__fput_sync(file);
	return ERR_PTR(-ENOENT);
}

/*
 * Open the file again, as the old one may hold a root that process 1 has left. A change after
 * the file is watched makes the new table stale.
 */
static int watch_mountinfo(void)
{
	struct file *file;

	unwatch();
	file = open_mountinfo();
	if (IS_ERR(file))
		return PTR_ERR(file);
	watch.file = file;
	init_poll_funcptr(&watch.table, enqueue);
	vfs_poll(file, &watch.table);
	return watch.queue ? 0 : -EOPNOTSUPP;
}

static int refresh(void)
{
	struct mounts *old = rcu_dereference_protected(mounts, true), *new;
	int err;

	WRITE_ONCE(read_at, jiffies);
	renames = READ_ONCE(rename_lock.seqcount.seqcount.sequence);
	err = watch_mountinfo();
	if (err)
		return err;
	new = read_mounts(watch.file, atomic_read(&changes));
	if (IS_ERR(new))
		return PTR_ERR(new);
	/* a rename changed the text; changed() is not called for renames */
	if (old && old->changes == new->changes && old->print != new->print)
		new->changes = atomic_inc_return(&changes);
	replace(new);
	return 0;
}

static void close_all(void)
{
	replace(NULL);
	unwatch();
	if (proc)
		kern_unmount(proc);
	proc = NULL;
}

static bool is_needed(void)
{
	return !iot_mounts_current() ||
	       renames != READ_ONCE(rename_lock.seqcount.seqcount.sequence);
}

/* Only this worker uses the open file. It never runs twice at once. */
static void work_fn(struct work_struct *unused)
{
	struct iot_visit visit;

	if (!atomic_read(&users)) {
		close_all();
		return;
	}
	if (is_needed() &&
	    !iot_visit_begin_worker(&visit, "a worker reads the list of mounts", NULL)) {
		refresh();
		iot_visit_end(&visit);
	}
	WRITE_ONCE(tries, tries + 1);
	wake_up_all(&tried);
	queue_delayed_work(system_unbound_wq, &work, LOOK_AGAIN);
}

/**
 * iot_mounts_current() - get the count of changes for which the table is current
 *
 * Context: any. Return: the count, or 0 if there is no current table.
 */
u32 iot_mounts_current(void)
{
	const struct mounts *m;
	u32 count = 0;

	rcu_read_lock();
	m = rcu_dereference(mounts);
	if (m && m->changes == atomic_read(&changes))
		count = m->changes;
	rcu_read_unlock();
	return count;
}

/**
 * iot_mounts_get() - make iot_mounts_text() available until iot_mounts_put()
 *
 * The mounts are those of process 1. Waits at most a second for the worker to read them. If that
 * takes longer, the mounts become known later; if they cannot be read, never.
 * Context: task, may sleep.
 */
void iot_mounts_get(void)
{
	unsigned int before = READ_ONCE(tries);

	/* the first user does not rely on the table: the worker may be about to free it */
	if (atomic_inc_return(&users) > 1 && iot_mounts_current())
		return;
	mod_delayed_work(system_unbound_wq, &work, 0);
	wait_event_killable_timeout(tried, READ_ONCE(tries) != before, HZ);
}

/** iot_mounts_put() - undo iot_mounts_get(). Does not wait. Context: task */
void iot_mounts_put(void)
{
	if (atomic_dec_and_test(&users))
		mod_delayed_work(system_unbound_wq, &work, 0);
}

/** iot_mounts_init() - set up at load */
void iot_mounts_init(void)
{
	get_random_bytes(&print_key, sizeof(print_key));
}

/** iot_mounts_exit() - close the file and free the table. Context: unload, there is no user */
void iot_mounts_exit(void)
{
	flush_delayed_work(&work);
	/* changed() may have queued it while the file was being closed */
	cancel_delayed_work_sync(&work);
}

/*
 * Put a name and a slash before @at. Under RCU the name stays in memory, and ends with a NUL
 * even while it is being changed (fs/dcache.c). Return: where the text begins, NULL if there is
 * no room.
 */
static char *put_name(char *at, const char *buf, const struct dentry *dentry)
{
	/* load the pointer before its text, as prepend_name() in fs/d_path.c does */
	const char *name = smp_load_acquire(&dentry->d_name.name);
	size_t len = strnlen(name, NAME_MAX);

	if (at - buf < len + 1)
		return NULL;
	at -= len;
	data_race(memcpy(at, name, len)); /* the caller then checks for renames */
	*--at = '/';
	return at;
}

/*
 * dentry_path_raw() without rename_lock, for callers with interrupts off. Waiting for
 * rename_lock could deadlock: the caller may hold a lock that an interrupt on another CPU waits
 * for, and that interrupt may have interrupted the holder of rename_lock. This function tries
 * once, and fails if a file is renamed in the meantime.
 */
static char *path_at_once(const struct dentry *dentry, char *buf, int size)
{
	const struct dentry *root = dentry->d_sb->s_root, *parent;
	unsigned int seq = raw_seqcount_begin(&rename_lock.seqcount), steps = 0;
	char *at = buf + size - 1;

	*at = '\0';
	if (dentry == root)
		*--at = '/';
	for (; dentry != root; dentry = parent) {
		parent = READ_ONCE(dentry->d_parent);
		if (parent == dentry || steps++ == STEPS_AT_ONCE)
			return ERR_PTR(-ENOENT);
		at = put_name(at, buf, dentry);
		if (!at)
			return ERR_PTR(-ENAMETOOLONG);
	}
	return read_seqcount_retry(&rename_lock.seqcount, seq) ? ERR_PTR(-EAGAIN) : at;
}

/* Find the first mount of a device, or where it would be. The number of steps is logarithmic. */
static unsigned int first_of(const struct mounts *m, dev_t dev)
{
	unsigned int from = 0, to = m->nr;

	while (from < to) {
		unsigned int middle = from + (to - from) / 2;

		if (m->at[middle].dev < dev)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static bool shows(const struct mount_at *at, const char *text)
{
	size_t len = strlen(at->root);

	return !strncmp(text, at->root, len) && (!text[len] || text[len] == '/');
}

/*
 * Of the mounts of the file's filesystem that show the file, find the one with the highest root.
 * With interrupts off only the first MOUNTS_AT_ONCE of them are searched, so a file may have no
 * path if its filesystem as a whole is mounted nowhere, but many of its directories are.
 */
static const struct mount_at *find(const struct mounts *m, const struct dentry *dentry,
				   const char *text)
{
	unsigned int left = irqs_disabled() ? MOUNTS_AT_ONCE : UINT_MAX;
	dev_t dev = dentry->d_sb->s_dev;
	unsigned int i = first_of(m, dev);

	for (; i < m->nr && m->at[i].dev == dev && left--; i++)
		if (shows(&m->at[i], text))
			return &m->at[i];
	return NULL;
}

/**
 * iot_mounts_text() - get the path of a file by a mount of its filesystem
 * @dentry:	alive under RCU, not disconnected
 * @buf:	@size bytes
 *
 * Context: task, under RCU. Spins for rename_lock if interrupts are on. Sleeps only on
 * PREEMPT_RT. Return: the text, at the end of @buf, or an error:
 *
 *	-ENOENT		the filesystem is not mounted, or no current table of mounts exists
 *	-EAGAIN		interrupts are off, and a file is being renamed somewhere
 *	-ENAMETOOLONG
 */
char *iot_mounts_text(const struct dentry *dentry, char *buf, int size)
{
	struct mounts *m = rcu_dereference(mounts);
	const struct mount_at *at;
	size_t len;
	char *text;

	if (!m || m->changes != atomic_read(&changes))
		return ERR_PTR(-ENOENT);
	text = irqs_disabled() ? path_at_once(dentry, buf, size) :
				 dentry_path_raw(dentry, buf, size);
	if (IS_ERR(text))
		return text;
	at = find(m, dentry, text);
	if (!at)
		return ERR_PTR(-ENOENT);
	text += strlen(at->root);
	len = strlen(at->point);
	if (text - buf < len)
		return ERR_PTR(-ENAMETOOLONG);
	return memcpy(text - len, at->point, len);
}
