// SPDX-License-Identifier: GPL-2.0
/*
 * Where filesystems are mounted, for files that no program was seen to open.
 *
 * The kernel's list of mounts is its own business; what it tells of it is
 * /proc/1/mountinfo (Documentation/filesystems/proc.rst). That file is open while some
 * category wants it, and polled for changes as a program would (fs/proc_namespace.c):
 * after one nothing is told until it has been read again.
 *
 * The table is found under RCU. A new one takes its place under the lock, and the old
 * one is freed after RCU by whoever did that; the file is closed after RCU by the last
 * user.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "mounts.h"
#include "path.h"

#define TEXT_MAX	SZ_4M

/**
 * struct mount_at - one mount
 * @dev:	of its filesystem
 * @root:	path in the filesystem of what is mounted; "" the whole
 * @point:	where, from the root of process 1; "" that root
 */
struct mount_at {
	dev_t dev;
	const char *root;
	const char *point;
};

/**
 * struct mounts - all of them
 * @file:	what they were read from
 * @stale:	something has been mounted or unmounted since
 * @text:	which @at points into
 */
struct mounts {
	struct file *file;
	bool stale;
	char *text;
	unsigned int nr;
	struct mount_at at[];
};

static DEFINE_MUTEX(lock);		/* of users, the file, and changes of the table */
static unsigned int users;
static struct file *mountinfo;
static struct mounts __rcu *mounts;
static DEFINE_RAW_SPINLOCK(poll_lock);	/* polling tells of a change once */

/* The whole file, with a NUL behind it; to be freed. Or an error. */
static char *read_text(void)
{
	size_t size = SZ_16K, len = 0;
	char *text = kvmalloc(size, GFP_KERNEL), *larger;
	loff_t pos = 0;
	ssize_t n;

	while (text) {
		n = kernel_read(mountinfo, text + len, size - 1 - len, &pos);
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

/* A path of that file, unescaped; of the root, which alone ends with a slash, nothing. */
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
	if (!m)
		return;
	kvfree(m->text);
	kvfree(m);
}

static struct mounts *read_mounts(void)
{
	char *text = read_text(), *rest = text;
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
	m->file = mountinfo;
	m->stale = false;
	m->text = text;
	m->nr = 0;
	while (lines--)
		m->nr += parse(strsep(&rest, "\n"), &m->at[m->nr]);
	return m;
}

/* As a program would be told: once for each who has the file open. */
static bool is_changed(struct file *file)
{
	return vfs_poll(file, NULL) & EPOLLERR;
}

static bool is_stale(struct mounts *m)
{
	bool stale;

	raw_spin_lock(&poll_lock);
	if (!m->stale)
		m->stale = is_changed(m->file);
	stale = m->stale;
	raw_spin_unlock(&poll_lock);
	return stale;
}

static void replace(struct mounts *new)
{
	struct mounts *old = rcu_replace_pointer(mounts, new, lockdep_is_held(&lock));

	if (!old)
		return;
	synchronize_rcu();
	free_mounts(old);
}

/*
 * A change while it is read is found at the next look; if by who has the old table, he
 * asks for this again. So he does if it fails.
 */
static int update(void)
{
	struct mounts *new;

	if (!mountinfo)
		return 0;
	raw_spin_lock(&poll_lock);
	is_changed(mountinfo);
	raw_spin_unlock(&poll_lock);
	new = read_mounts();
	if (IS_ERR(new))
		return PTR_ERR(new);
	replace(new);
	return 0;
}

static void update_fn(struct work_struct *work)
{
	mutex_lock(&lock);
	update();
	mutex_unlock(&lock);
}

static DECLARE_WORK(update_work, update_fn);

/**
 * iot_mounts_get() - from now on iot_mounts_text() is wanted
 *
 * The mounts are those that process 1 of the caller's has. Where that cannot be asked,
 * no text will be had. Context: task, may sleep, without locks that showing one of our
 * files takes: a seq_file is read. Return: 0, to be undone by iot_mounts_put(), or
 * -ENOMEM.
 */
int iot_mounts_get(void)
{
	struct mounts *m;
	int err = 0;

	mutex_lock(&lock);
	if (!users++) {
		mountinfo = filp_open("/proc/1/mountinfo", O_RDONLY, 0);
		err = PTR_ERR_OR_ZERO(mountinfo);
		if (err)
			mountinfo = NULL;
	}
	m = rcu_dereference_protected(mounts, lockdep_is_held(&lock));
	if (!err && (!m || is_stale(m)))
		err = update();
	mutex_unlock(&lock);
	if (err != -ENOMEM)
		return 0;
	iot_mounts_put();
	return -ENOMEM;
}

/** iot_mounts_put() - no longer. Context: task, may sleep */
void iot_mounts_put(void)
{
	struct file *last = NULL;

	mutex_lock(&lock);
	if (!--users) {
		replace(NULL);
		swap(last, mountinfo);
	}
	mutex_unlock(&lock);
	if (!last)
		return;
	/* it was queued under RCU, by who had the table */
	cancel_work_sync(&update_work);
	fput(last);
}

/* Of what is mounted of the file's filesystem the mount that shows most of it. */
static const struct mount_at *find(const struct mounts *m, const struct dentry *dentry,
				   const char *text)
{
	const struct mount_at *best = NULL;
	unsigned int i;
	size_t len;

	for (i = 0; i < m->nr; i++) {
		const struct mount_at *at = &m->at[i];

		if (at->dev != dentry->d_sb->s_dev)
			continue;
		len = strlen(at->root);
		if (!strncmp(text, at->root, len) && (!text[len] || text[len] == '/') &&
		    (!best || len < strlen(best->root)))
			best = at;
	}
	return best;
}

/**
 * iot_mounts_text() - path of a file by where its filesystem is mounted
 * @dentry:	alive under RCU, not disconnected
 * @buf:	@size bytes
 *
 * Context: task, under RCU, interrupts on; spins for rename_lock, and does not sleep,
 * but on PREEMPT_RT. Return: the text in the end of @buf, or an error: -ENOENT, it is
 * mounted nowhere, or that is not known now; -ENAMETOOLONG.
 */
char *iot_mounts_text(const struct dentry *dentry, char *buf, int size)
{
	struct mounts *m = rcu_dereference(mounts);
	const struct mount_at *at;
	size_t len;
	char *text;

	if (!m)
		return ERR_PTR(-ENOENT);
	if (is_stale(m)) {
		schedule_work(&update_work);
		return ERR_PTR(-ENOENT);
	}
	text = dentry_path_raw(dentry, buf, size);
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
