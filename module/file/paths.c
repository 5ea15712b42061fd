// SPDX-License-Identifier: GPL-2.0
/*
 * Paths that records name by id: resolved once, kept in a bounded table.
 *
 * An entry (path_table.h) is one text and the file that had it. It is found by the
 * address of the dentry and of the mount, and holds neither: a filesystem can be
 * unmounted at any time. So that memory used again is not taken for the old file, the
 * dentry's parent and name and the inode's number have to be the same too.
 *
 * A rename, or a mount, may change the path of any file below. That there was one anywhere
 * is told by the kernel's own counts (iot_paths_stamp()). Whether it concerns an entry is
 * told by its print, a hash of all that its text follows from: from the file up to the root
 * of its mount, from where that is mounted up to the root of the next one, and so on, each
 * dentry's parent and name. It is read without a lock, as the kernel itself does to make a
 * text (fs/d_path.c). An entry with the right print is good for the new stamp. Only the
 * others are resolved again; where the text is the same they stay.
 *
 * A print is believed only if it was read, with its text, while nothing changed.
 *
 * A path is text from the root of the mount namespace, also for a task in a
 * chroot; a deleted file keeps the path it had. What is in no namespace (any more)
 * has none.
 *
 * The table has entries while a category runs. What records that are kept, and programs
 * that read /proc/iotracer/paths, have yet to show stays when the last one is stopped;
 * all else is freed then.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/path.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "compat/compat.h"
#include "compat/mount.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/symbol.h"
#include "file/mounts.h"
#include "file/path.h"
#include "file/paths.h"
#include "uapi/iotracer.h"

static atomic64_t nr_missed;

/* For paths resolved where one may not sleep: PATH_MAX bytes a CPU. */
static char __percpu *scratch;

static siphash_key_t text_key;
static bool mounts_are_known;	/* struct mount is as we think */

/* A file below more names and mounts than this has no print: no walk is longer. */
#define DEPTH_MAX	64

/* Names of an inode that are looked at: an inode may have thousands. */
#define ALIASES_MAX	8

/** struct moment - counts of changes, see iot_paths_stamp() */
struct moment {
	u32 renames;
	u32 mounts;
};

static struct moment moment_now(void)
{
	struct moment now = {
		.renames = READ_ONCE(rename_lock.seqcount.seqcount.sequence),
		.mounts = READ_ONCE(*iot_path_table.mounts),
	};

	smp_rmb(); /* what is read from now on is of then or later */
	return now;
}

/* Has nothing changed since, and was nothing being changed then? */
static bool is_quiet(const struct moment *then)
{
	struct moment now;

	smp_rmb(); /* what was read up to now is of then */
	now = moment_now();
	return !((then->renames | then->mounts) & 1) && now.renames == then->renames &&
	       now.mounts == then->mounts;
}

static u64 stamp_of(const struct moment *m)
{
	return m->renames + m->mounts;
}

/* Is an entry's stamp that of now? IOT_PATH_STALE is odd, and this is even. */
static __always_inline bool is_current(const struct iot_path *e, const struct moment *now)
{
	return (u32)READ_ONCE(e->stamp) == (now->renames & ~1U) + (now->mounts & ~1U);
}

/**
 * iot_paths_kind() - IOT_KIND_* of a file
 *
 * A real filesystem is one that has a device, memory or a server for its data;
 * the kernel's own view of itself is pseudo. Context: any.
 */
u16 iot_paths_kind(const struct inode *inode)
{
	if (S_ISFIFO(inode->i_mode))
		return IOT_KIND_PIPE;
	if (S_ISSOCK(inode->i_mode))
		return IOT_KIND_SOCKET;
	if (S_ISCHR(inode->i_mode) || S_ISBLK(inode->i_mode))
		return IOT_KIND_DEVICE;
	switch (inode->i_sb->s_magic) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case BPF_FS_MAGIC:
	case PSTOREFS_MAGIC:
	case DEVPTS_SUPER_MAGIC:
		return IOT_KIND_PSEUDO;
	}
	if (inode->i_sb->s_flags & SB_NOUSER)
		return IOT_KIND_OTHER; /* eventfd, epoll, memfd ... */
	if (S_ISDIR(inode->i_mode))
		return IOT_KIND_DIR;
	if (S_ISLNK(inode->i_mode))
		return IOT_KIND_SYMLINK;
	return S_ISREG(inode->i_mode) ? IOT_KIND_FILE : IOT_KIND_OTHER;
}

static bool is_named(const struct dentry *dentry)
{
	return !dentry->d_op || !dentry->d_op->d_dname;
}

/* char *d_absolute_path(path, buffer, size), fs/d_path.c, 0 where it is not found */
static unsigned long absolute_path;

/**
 * iot_paths_text() - the text from the root of the mount namespace, in the end of
 * @buf, @size bytes
 *
 * Context: task; without sleep where PREEMPT_RT is not. Return: where it begins, or
 * an error: -EINVAL in a mount that is not in any namespace.
 */
char *iot_paths_text(const struct path *path, char *buf, int size)
{
	unsigned long args[IOT_CALL_ARGS] = {
		(unsigned long)path, (unsigned long)buf, size
	};

	if (!is_named(path->dentry) || !absolute_path)
		return d_path(path, buf, size);
	return (char *)iot_hook_call(args, absolute_path);
}

static __always_inline u64 mix(u64 print, u64 a, u64 b)
{
	return rol64((print ^ a) * iot_path_table.secret[1] + b, 29);
}

/*
 * The print of a dentry that is alive, up to @root. Under RCU, in any context. @left: steps
 * that may yet be made. Return: 0 if these are too few, or it is not below @root.
 */
static __always_inline u64 print_below(const struct dentry *dentry, const struct dentry *root,
				       u64 print, unsigned int *left)
{
	const struct dentry *parent;

	for (; dentry != root; dentry = parent) {
		parent = READ_ONCE(dentry->d_parent);
		if (parent == dentry || !*left)
			return 0;
		--*left;
		print = mix(print, (u64)parent, READ_ONCE(dentry->d_name.hash_len));
	}
	return print | 1;
}

/*
 * The print of a dentry and a mount that are alive, up to the root of the namespace. @left:
 * as above. Context: any, under RCU. Return: 0 if there is none.
 */
static u64 print_of(const struct dentry *dentry, const struct vfsmount *mnt, unsigned int *left)
{
	u64 print = 0;

	/* pipes and the like: their text follows from the inode */
	if (!is_named(dentry))
		return 1;
	if (!mounts_are_known)
		return 0;
	do {
		print = print_below(dentry, mnt->mnt_root, print, left);
		/* a mount is a step, too: thousands may be on top of one another */
		if (!print || !*left)
			return 0;
		--*left;
	} while (iot_mount_up(&mnt, &dentry));
	return mnt->mnt_flags & MNT_UMOUNT ? 0 : print;
}

/* Let an entry whose print was found right be good for @now. */
static void confirm(const struct iot_path *found, const struct moment *now)
{
	struct iot_path *e = (struct iot_path *)found;

	if (!is_quiet(now))
		return;
	/* whoever finds these mounts has the path of a mount that is there, or comes from one */
	WRITE_ONCE(e->mounts, now->mounts);
	WRITE_ONCE(e->stamp, stamp_of(now) | (READ_ONCE(e->stamp) & IOT_PATH_COARSE));
}

/* The path of a file, if no change since it was resolved concerns it. */
static bool revalidate(const struct path *path, bool may_sleep, struct iot_paths_file *file)
{
	struct moment now = moment_now();
	unsigned int left = DEPTH_MAX;
	const struct iot_path *e;
	bool found = false;
	u64 print = 0;

	if (!d_backing_inode(path->dentry))
		return false;
	preempt_disable_notrace();
	hlist_for_each_entry_rcu_notrace(e, iot_paths_head(path), node) {
		if (!iot_paths_is(e, path) || !READ_ONCE(e->print) ||
		    (may_sleep && (READ_ONCE(e->stamp) & IOT_PATH_COARSE)))
			continue;
		if (!print)
			print = print_of(path->dentry, path->mnt, &left);
		if (!print)
			break;
		if (READ_ONCE(e->print) != print)
			continue;
		confirm(e, &now);
		*file = e->file;
		found = true;
		break;
	}
	preempt_enable_notrace();
	return found;
}

static void set_key(struct iot_path_key *key, const struct dentry *dentry,
		    const struct vfsmount *mnt, const struct inode *inode)
{
	key->dentry = dentry;
	key->mnt = mnt;
	key->parent = READ_ONCE(dentry->d_parent);
	key->hash_len = READ_ONCE(dentry->d_name.hash_len);
	key->ino = inode ? inode->i_ino : 0;
}

/* What an entry is to have, but for its text. */
static void prepare(struct iot_path *e, const struct path *path,
		    const struct iot_paths_file *file)
{
	const struct inode *inode = d_backing_inode(path->dentry);

	memset(e, 0, sizeof(*e));
	set_key(&e->key, path->dentry, path->mnt, inode);
	e->inode = inode;
	e->generation = inode ? inode->i_generation : 0;
	e->file = *file;
}

/* Is it the entry of this inode, which may have another path by now? */
static bool is_of(const struct iot_path *e, const struct inode *inode)
{
	return e->inode == inode && e->key.ino == inode->i_ino &&
	       e->generation == inode->i_generation;
}

/*
 * What stat(2) said of the file when it had perhaps another name, if that is known.
 * Under RCU.
 */
static void identify_again(const struct inode *inode, struct iot_paths_file *file)
{
	const struct iot_path *e;

	hlist_for_each_entry_rcu_notrace(e, iot_path_inode_head(inode), inode_node) {
		if (!is_of(e, inode) || (READ_ONCE(e->stamp) & IOT_PATH_COARSE))
			continue;
		file->dev = e->file.dev;
		file->ino = e->file.ino;
		return;
	}
}

/*
 * Can stat(2) be asked where one may not sleep? Of btrfs, whose subvolumes have numbers
 * of their own: btrfs_getattr() takes spinlocks only (fs/btrfs/inode.c).
 */
static bool stats_at_once(const struct inode *inode)
{
	return inode->i_sb->s_magic == BTRFS_SUPER_MAGIC && !IS_ENABLED(CONFIG_PREEMPT_RT);
}

static void identify(const struct path *path, bool may_sleep,
		     struct iot_paths_file *file)
{
	const struct inode *inode = d_backing_inode(path->dentry);
	struct kstat stat;

	file->id = 0;
	file->dev = path->dentry->d_sb->s_dev;
	file->ino = inode ? inode->i_ino : 0;
	file->kind = inode ? iot_paths_kind(inode) : IOT_KIND_NONE;
	file->kinds = BIT(file->kind);
	/* pipes and the like have nothing else to say */
	if (!inode || !is_named(path->dentry))
		return;
	if (!may_sleep && !stats_at_once(inode)) {
		preempt_disable_notrace();
		identify_again(inode, file);
		preempt_enable_notrace();
		return;
	}
	if (vfs_getattr_nosec(path, &stat, STATX_INO, AT_STATX_DONT_SYNC))
		return;
	file->dev = stat.dev;
	file->ino = stat.ino;
}

/*
 * Give @e the text and all that goes with it, @buf of PATH_MAX bytes. Return: the text, or
 * an error.
 */
static char *resolve_text(struct iot_path *e, const struct path *path, char *buf)
{
	struct moment now = moment_now();
	unsigned int left = DEPTH_MAX;
	char *text;
	u64 print;

	rcu_read_lock();
	print = print_of(path->dentry, path->mnt, &left);
	rcu_read_unlock();
	text = iot_paths_text(path, buf, PATH_MAX);
	if (IS_ERR(text))
		return text;
	e->len = strlen(text);
	e->stamp = IOT_PATH_STALE;
	if (is_quiet(&now)) {
		e->stamp = stamp_of(&now);
		e->mounts = now.mounts;
		e->print = print;
	}
	return text;
}

/*
 * Give @file its id. Return: 0 or an error, there is none then. What stat(2) would
 * say of the file is not known, which the entry says.
 */
static int resolve_atomic(struct iot_path *e, const struct path *path,
			  struct iot_paths_file *file)
{
	char *text;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return -EAGAIN;
	preempt_disable();
	text = resolve_text(e, path, this_cpu_ptr(scratch));
	if (!IS_ERR(text)) {
		e->stamp |= IOT_PATH_COARSE;
		file->id = iot_path_table_keep(e, text, GFP_NOWAIT);
	}
	preempt_enable();
	return PTR_ERR_OR_ZERO(text);
}

/* Likewise; a caller who may sleep may still be below a filesystem: GFP_NOFS. */
static int resolve_sleeping(struct iot_path *e, const struct path *path,
			    struct iot_paths_file *file)
{
	char *buf = kmalloc(PATH_MAX, GFP_NOFS);
	char *text = buf ? resolve_text(e, path, buf) : ERR_PTR(-ENOMEM);

	if (!IS_ERR(text))
		file->id = iot_path_table_keep(e, text, GFP_NOFS);
	kfree(buf);
	return PTR_ERR_OR_ZERO(text);
}

static void count_missed(void)
{
	if (iot_path_table_is_open())
		atomic64_inc(&nr_missed);
}

/*
 * Is a file without absolute path one that no program can have opened? Overlayfs
 * reaches those below it by mounts that were never in a namespace. Others were
 * unmounted lazily, or moved out of what is mounted.
 */
static bool is_internal(const struct path *path)
{
	return !(path->mnt->mnt_flags & MNT_UMOUNT) &&
	       is_subdir(path->dentry, path->mnt->mnt_root);
}

static noinline void resolve(const struct path *path, bool may_sleep,
			     struct iot_paths_file *file)
{
	struct iot_path e IOT_UNINITIALIZED;
	int err;

	identify(path, may_sleep, file);
	prepare(&e, path, file);
	err = may_sleep ? resolve_sleeping(&e, path, file) : resolve_atomic(&e, path, file);
	if (file->id)
		return;
	if (err == -EINVAL && is_internal(path))
		file->kinds = 0;
	else
		count_missed();
}

/** iot_paths_resolve() - iot_paths_of() a path that is not known as it is now */
void iot_paths_resolve(const struct path *path, bool may_sleep, struct iot_paths_file *file)
{
	if (!revalidate(path, may_sleep, file))
		resolve(path, may_sleep, file);
}

/**
 * iot_paths_find_inode() - the path by which a file was seen last, if nothing has changed
 * since
 *
 * Context: any, preemption off; the caller holds the inode. Return: is it known?
 */
bool iot_paths_find_inode(const struct inode *inode, struct iot_paths_file *file)
{
	struct moment now = moment_now();
	const struct iot_path *e;

	hlist_for_each_entry_rcu_notrace(e, iot_path_inode_head(inode), inode_node) {
		if (!is_of(e, inode) || !is_current(e, &now))
			continue;
		*file = e->file;
		return true;
	}
	return false;
}

/*
 * The print of a path that comes from the mount table (mounts.c): instead of mounts it has
 * the table's count. @left: as above. Return: 0 if there is none.
 */
static u64 print_of_name(const struct dentry *dentry, unsigned int *left)
{
	u32 table = iot_mounts_current();

	return table ? print_below(dentry, dentry->d_sb->s_root, mix(0, table, 0), left) : 0;
}

/*
 * The print of an entry's dentry, which is alive. Its mount is if none was changed since:
 * only then may it be followed.
 */
static u64 print_again(const struct iot_path *e, const struct dentry *dentry,
		       const struct moment *now, unsigned int *left)
{
	if (!e->key.mnt)
		return print_of_name(dentry, left);
	return READ_ONCE(e->mounts) == now->mounts ? print_of(dentry, e->key.mnt, left) : 0;
}

/* With the inode's lock, so that the dentry is alive: has it still that path? */
static bool is_still(const struct iot_path *e, const struct dentry *dentry,
		     const struct moment *now, unsigned int *left)
{
	u64 print;

	if (e->key.parent != READ_ONCE(dentry->d_parent) ||
	    e->key.hash_len != READ_ONCE(dentry->d_name.hash_len))
		return false;
	if (is_current(e, now))
		return true;
	print = print_again(e, dentry, now, left);
	if (!print || print != READ_ONCE(e->print))
		return false;
	confirm(e, now);
	return true;
}

/* Likewise: a path by which this name of the inode was seen, whatever mount it was by. */
static const struct iot_path *find_alias(const struct inode *inode,
					 const struct dentry *dentry,
					 const struct moment *now, unsigned int *left)
{
	const struct iot_path *e;

	hlist_for_each_entry_rcu_notrace(e, iot_path_inode_head(inode), inode_node)
		if (is_of(e, inode) && e->key.dentry == dentry && is_still(e, dentry, now, left))
			return e;
	return NULL;
}

/*
 * A path for what no program was seen to open: of one of its names, where its filesystem
 * is mounted. @dentry is alive under RCU, and was the inode's. Return: is there one?
 */
static bool resolve_name(struct dentry *dentry, const struct inode *inode,
			 const struct moment *now, struct iot_paths_file *file)
{
	struct path path = { .dentry = dentry };
	unsigned int left = DEPTH_MAX;
	u64 print = print_of_name(dentry, &left);
	struct iot_path e;
	char *text;

	prepare(&e, &path, file);
	text = iot_mounts_text(dentry, this_cpu_ptr(scratch), PATH_MAX);
	if (IS_ERR(text) || READ_ONCE(dentry->d_inode) != inode)
		return false;
	e.len = strlen(text);
	e.stamp = IOT_PATH_STALE;
	if (is_quiet(now)) {
		e.stamp = stamp_of(now);
		e.print = print;
	}
	e.inode = inode;
	e.generation = inode->i_generation;
	e.key.ino = inode->i_ino;
	e.stamp |= IOT_PATH_COARSE;
	file->id = iot_path_table_keep(&e, text, GFP_NOWAIT);
	return file->id;
}

/*
 * From the names of the inode: the path by which it was seen, or that one of them has.
 */
static bool resolve_inode(struct inode *inode, struct iot_paths_file *file)
{
	struct moment now = moment_now();
	struct dentry *dentry, *name = NULL;
	const struct iot_path *e = NULL;
	/* of all names together: interrupts may be off */
	unsigned int left = DEPTH_MAX;
	unsigned int n = 0;
	bool found;

	/* who holds the lock may be what this interrupts */
	if (!in_task() || IS_ENABLED(CONFIG_PREEMPT_RT) || !spin_trylock(&inode->i_lock))
		return false;
	rcu_read_lock();
	hlist_for_each_entry(dentry, &inode->i_dentry, iot_d_alias) {
		e = find_alias(inode, dentry, &now, &left);
		if (e || ++n == ALIASES_MAX)
			break;
		if (!name && !(READ_ONCE(dentry->d_flags) & DCACHE_DISCONNECTED))
			name = dentry;
	}
	spin_unlock(&inode->i_lock);
	if (e)
		*file = e->file;
	found = e || (name && resolve_name(name, inode, &now, file));
	rcu_read_unlock();
	return found;
}

/**
 * iot_paths_of_inode() - likewise of what only its inode is known of
 *
 * The path is one by which the file was seen before, of the names that it has now; or,
 * between iot_mounts_get() and iot_mounts_put(), one that it has where its filesystem
 * is mounted. Context: any, preemption off; the caller holds the inode.
 */
void iot_paths_of_inode(struct inode *inode, struct iot_paths_file *file)
{
	if (iot_paths_find_inode(inode, file))
		return;
	file->id = 0;
	file->dev = inode->i_sb->s_dev;
	file->ino = inode->i_ino;
	file->kind = iot_paths_kind(inode);
	file->kinds = BIT(file->kind);
	if (!resolve_inode(inode, file))
		count_missed();
}

/**
 * iot_paths_name() - the id of a text that leads to no file
 *
 * Context: task. Return: the id, or 0, counted: no memory.
 */
u64 iot_paths_name(const char *text, size_t len, bool may_sleep)
{
	struct iot_path e = { .key.hash_len = siphash(text, len, &text_key), .len = len };
	bool allowed = may_sleep || !IS_ENABLED(CONFIG_PREEMPT_RT);
	u64 id = 0;

	if (allowed)
		id = iot_path_table_keep(&e, text, may_sleep ? GFP_NOFS : GFP_NOWAIT);
	if (!id)
		count_missed();
	return id;
}

/** iot_paths_show() - print a path, escaped, or ? where it is forgotten */
void iot_paths_show(struct seq_file *m, u64 id)
{
	const struct iot_path *e;

	rcu_read_lock();
	e = iot_path_table_at(id);
	if (e)
		iot_path_escape(m, e->text);
	else
		seq_putc(m, '?');
	rcu_read_unlock();
}

/** iot_paths_stats() - counts */
void iot_paths_stats(struct iot_paths_stats *stats)
{
	iot_path_table_stats(stats);
	stats->missed = atomic64_read(&nr_missed);
}

/*
 * Who needs entries: categories that run, and open files of /proc/iotracer/paths. Where
 * there is none of the former, what nobody needs is freed: all that no kept record names
 * and no open file has yet to show.
 */
static DEFINE_MUTEX(users_lock);	/* of what follows; no lock of a category is held */
static unsigned int users;
static LIST_HEAD(readers);
static void (*mark_needed)(unsigned long *marks);

/* With users_lock. */
static void free_unneeded(void)
{
	u64 last, end;
	unsigned long *marks;
	struct iot_paths_reader *rd;

	if (users)
		return;
	marks = iot_path_table_marks();
	if (!marks)
		return;
	iot_path_table_oldest(&last);
	end = last + 1;
	list_for_each_entry(rd, &readers, node)
		end = min(end, READ_ONCE(rd->next));
	mark_needed(marks);
	iot_path_table_sweep(marks, end);
	kvfree(marks);
}

/** iot_paths_get() - a category is about to run. Context: task, may sleep */
void iot_paths_get(void)
{
	mutex_lock(&users_lock);
	if (!users++)
		iot_path_table_open();
	mutex_unlock(&users_lock);
}

/** iot_paths_put() - it has been stopped. Context: likewise, no lock of a category held */
void iot_paths_put(void)
{
	mutex_lock(&users_lock);
	if (!--users) {
		iot_path_table_close();
		free_unneeded();
	}
	mutex_unlock(&users_lock);
}

/** iot_paths_tidy() - records have been given up. Context: likewise */
void iot_paths_tidy(void)
{
	mutex_lock(&users_lock);
	free_unneeded();
	mutex_unlock(&users_lock);
}

/** iot_paths_reader_add() - keep the entries from @rd->next on. Context: task, may sleep */
void iot_paths_reader_add(struct iot_paths_reader *rd)
{
	mutex_lock(&users_lock);
	list_add(&rd->node, &readers);
	mutex_unlock(&users_lock);
}

/** iot_paths_reader_remove() - free what only @rd needed. Context: likewise */
void iot_paths_reader_remove(struct iot_paths_reader *rd)
{
	mutex_lock(&users_lock);
	list_del(&rd->node);
	free_unneeded();
	mutex_unlock(&users_lock);
}

/**
 * iot_paths_init() - at load
 * @mark:	marks, by iot_path_table_mark(), what kept records name; may sleep
 */
int iot_paths_init(void (*mark)(unsigned long *marks))
{
	int err;

	mark_needed = mark;
	absolute_path = iot_symbol_checked("d_absolute_path",
					  "char * (struct path *, char *, int)");
	get_random_bytes(&text_key, sizeof(text_key));
	scratch = __alloc_percpu(PATH_MAX, 8);
	if (!scratch)
		return -ENOMEM;
	err = iot_path_table_init();
	if (err)
		free_percpu(scratch);
	else	/* of their changes, which there have been, and of where they are */
		mounts_are_known = *iot_path_table.mounts && iot_mount_is_known();
	return err;
}

/** iot_paths_exit() - at unload: no probe and no reader is left */
void iot_paths_exit(void)
{
	iot_path_table_exit();
	free_percpu(scratch);
}
