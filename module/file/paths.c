// SPDX-License-Identifier: GPL-2.0
/*
 * Paths that records name by id: resolved once, kept in a bounded table.
 *
 * An entry (path_table.h) is one text and the file that had it. It is looked up by the address
 * of the dentry and of the mount, and holds a reference to neither, so a filesystem can be
 * unmounted at any time. The dentry's parent and name and the inode number must match as well,
 * so that reused memory is not taken for the old file.
 *
 * A rename, or a mount, may change the path of any file below. The kernel's own counts show that
 * there was one somewhere (iot_paths_stamp()). An entry's print shows whether the change
 * concerns the entry. The print is a hash of all that determines the text: each dentry's parent
 * and name, from the file up to the root of its mount, from the mount point up to the root of
 * the next mount, and so on. It is computed without a lock, as the kernel itself does to make a
 * text (fs/d_path.c). An entry whose print still matches is valid for the new stamp. Only the
 * others are resolved again; an entry whose text is still the same stays.
 *
 * A print is stored only if nothing changed while it and its text were computed.
 *
 * The kernel's counts have 32 bits. They wrap after 2^31 renames or mounts, which a process can
 * make in an hour, and an entry of then would be taken for a current one. So a worker has all
 * entries resolved again long before that. Nobody looks at the counts while no category runs: if
 * that lasts, all become stale.
 *
 * A path is the text from the root of the mount namespace, also for a task in a chroot. A
 * deleted file keeps the path it had. A file that is in no namespace (any more) has no path.
 *
 * The table has entries while a category runs. When the last one is stopped, the entries stay
 * that kept records name or that readers of /proc/iotracer/paths have yet to show. All others
 * are freed then, and with the last one the table.
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
#include <linux/workqueue.h>
#include "compat/compat.h"
#include "compat/mount.h"
#include "hook/enter.h"
#include "hook/hook.h"
#include "hook/hook_set.h"
#include "hook/symbol.h"
#include "file/mounts.h"
#include "file/path.h"
#include "file/paths.h"
#include "file/sb.h"
#include "uapi/iotracer.h"

/* A worker looks at the counts this often. They cannot grow by AGE_MAX, its limit, meanwhile. */
#define AGING_PERIOD	HZ
#define AGE_MAX		BIT(29)

static DEFINE_MUTEX(users_lock);	/* no lock of a log is held */
static unsigned int users;		/* categories that run; protected by users_lock */
static atomic64_t nr_missed;

/* For paths that are resolved where sleeping is not allowed: PATH_MAX bytes per CPU. */
static char __percpu *scratch;

static siphash_key_t text_key;
static bool mounts_are_known;	/* struct mount has the layout that we assume */

/* Names and mounts that a print covers at most. A file that has more has no print. */
#define DEPTH_MAX	64

/* Names of an inode that are searched at most: an inode may have thousands. */
#define ALIASES_MAX	8

#define MQUEUE_MAGIC	0x19800202	/* ipc/mqueue.c */

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

	smp_rmb(); /* later reads see this moment or a later one */
	return now;
}

/* Check that nothing has changed since @then, and that nothing was being changed then. */
static bool is_quiet(const struct moment *then)
{
	struct moment now;

	smp_rmb(); /* if the counts are unchanged, earlier reads saw the state at @then */
	now = moment_now();
	return !((then->renames | then->mounts) & 1) && now.renames == then->renames &&
	       now.mounts == then->mounts;
}

static u64 stamp_of(const struct moment *m)
{
	return m->renames + m->mounts;
}

/* Check whether an entry's stamp is current. IOT_PATH_STALE is odd, the sum is even. */
static __always_inline bool is_current(const struct iot_path *e, const struct moment *now)
{
	return (u32)READ_ONCE(e->stamp) == (now->renames & ~1U) + (now->mounts & ~1U);
}

/**
 * iot_paths_kind() - get the IOT_KIND_* of a file
 *
 * A real filesystem has a device, memory or a server for its data. One that shows the kernel's
 * own state is pseudo. Context: any.
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
	case MQUEUE_MAGIC:
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

/* char *d_absolute_path(path, buffer, size), fs/d_path.c; 0 if it is not found */
static unsigned long absolute_path;

/**
 * iot_paths_text() - get the text of a path from the root of the mount namespace
 * @path:	of the file
 * @buf:	@size bytes
 *
 * Context: task; sleeps only on PREEMPT_RT. Return: the text, at the end of @buf, or an error:
 * -EINVAL in a mount that is in no namespace.
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

static __always_inline u64 mix(u64 print, u64 secret, u64 a, u64 b)
{
	return rol64((print ^ a) * secret + b, 29);
}

static __always_inline u64 add_name(u64 print, u64 secret, const struct dentry *dentry,
				    const struct dentry **parent)
{
	*parent = READ_ONCE(dentry->d_parent);
	return mix(print, secret, (u64)*parent, READ_ONCE(dentry->d_name.hash_len));
}

/*
 * Compute the print of a dentry that is alive, up to @root. @left is the number of steps still
 * allowed. A dentry that is not below @root uses all steps, as the topmost dentry is its own
 * parent. Context: any, under RCU. Return: 0 if there are not enough steps.
 */
static __always_inline u64 print_below(const struct dentry *dentry, const struct dentry *root,
				       u64 print, unsigned int *left)
{
	const u64 secret = iot_path_table.secret[1];
	const struct dentry *parent;
	unsigned int n = *left;

	/* two steps at a time, for speed: after a rename anywhere, each read does this once */
	for (; dentry != root; n -= 2) {
		if (n < 2) {
			*left = 0;
			return 0;
		}
		print = add_name(print, secret, dentry, &parent);
		if (parent == root) {
			n -= 2;
			break;
		}
		print = add_name(print, secret, parent, &dentry);
	}
	*left = n;
	return print | 1;
}

/*
 * Compute the print of a dentry and a mount that are alive, up to the root of the namespace.
 * @left is as above. Context: any, under RCU. Return: 0 if the path has no print.
 */
static u64 print_of(const struct dentry *dentry, const struct vfsmount *mnt, unsigned int *left)
{
	u64 print = 0;

	/* the inode determines the text of pipes and the like */
	if (!is_named(dentry))
		return 1;
	if (!mounts_are_known)
		return 0;
	do {
		print = print_below(dentry, mnt->mnt_root, print, left);
		/* each mount counts as a step: thousands may be stacked at one place */
		if (!print || !*left)
			return 0;
		--*left;
	} while (iot_mount_up(&mnt, &dentry));
	return mnt->mnt_flags & MNT_UMOUNT ? 0 : print;
}

/* Make an entry whose print matches valid for @now. */
static void confirm(const struct iot_path *found, const struct moment *now)
{
	struct iot_path *e = (struct iot_path *)found;

	if (!is_quiet(now))
		return;
	/* the mount is alive: the caller holds its path, or no mount has changed since */
	WRITE_ONCE(e->mounts, now->mounts);
	WRITE_ONCE(e->stamp, stamp_of(now) | (READ_ONCE(e->stamp) & IOT_PATH_COARSE));
}

/**
 * iot_paths_find_again() - find a path that was resolved, if no later change concerns it
 *
 * The entry becomes valid for this moment. Context: task, preemption off; the result is valid
 * until preemption is on again. Return: the path, or NULL.
 */
const struct iot_path *iot_paths_find_again(const struct path *path, bool coarse)
{
	struct moment now = moment_now();
	unsigned int left = DEPTH_MAX;
	const struct iot_path *e;
	u64 print = 0;

	hlist_for_each_entry_rcu_notrace(e, iot_paths_head(path), node) {
		if (!iot_paths_is(e, path) || !READ_ONCE(e->print) ||
		    (!coarse && (READ_ONCE(e->stamp) & IOT_PATH_COARSE)))
			continue;
		if (!print)
			print = print_of(path->dentry, path->mnt, &left);
		if (!print)
			break;
		if (READ_ONCE(e->print) != print)
			continue;
		confirm(e, &now);
		return e;
	}
	return NULL;
}

/* Find the path of a file, if no change since it was resolved concerns it. */
static bool revalidate(const struct path *path, bool may_sleep, struct iot_paths_file *file)
{
	const struct iot_path *e = NULL;

	preempt_disable_notrace();
	if (d_backing_inode(path->dentry))
		e = iot_paths_find_again(path, !may_sleep);
	if (e)
		*file = e->file;
	preempt_enable_notrace();
	return e;
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

/* Fill in an entry, except its text. */
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

/* Check whether an entry was made for this inode. The inode may have another path by now. */
static bool is_of(const struct iot_path *e, const struct inode *inode)
{
	return e->inode == inode && e->key.ino == inode->i_ino &&
	       e->generation == inode->i_generation;
}

/*
 * Copy what stat(2) reported of the file, perhaps under another name, if that is known.
 * Context: under RCU. Return: whether it is.
 */
static bool identify_again(const struct inode *inode, struct iot_paths_file *file)
{
	const struct iot_path *e;

	hlist_for_each_entry_rcu_notrace(e, iot_path_inode_head(inode), inode_node) {
		if (!is_of(e, inode) || (READ_ONCE(e->stamp) & IOT_PATH_COARSE))
			continue;
		file->dev = e->file.dev;
		file->ino = e->file.ino;
		return true;
	}
	return false;
}

/*
 * Has the file a device number of its own, which the inode does not tell? On overlayfs it is that
 * of the layer that the file is in, if the layers are on several filesystems (ovl_map_dev_ino(),
 * fs/overlayfs/inode.c).
 */
static bool has_own_device(const struct inode *inode)
{
	return inode->i_sb->s_magic == OVERLAYFS_SUPER_MAGIC && S_ISREG(inode->i_mode);
}

/*
 * Check whether stat(2) can be used where sleeping is not allowed. It can for btrfs, whose
 * subvolumes have device numbers of their own: btrfs_getattr() takes only spinlocks
 * (fs/btrfs/inode.c).
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
	/* for pipes and the like, stat(2) reports nothing else */
	if (!inode || !is_named(path->dentry))
		return;
	if (!may_sleep && !stats_at_once(inode)) {
		preempt_disable_notrace();
		if (!identify_again(inode, file) && has_own_device(inode))
			file->kinds |= IOT_PATHS_UNSURE;
		preempt_enable_notrace();
		return;
	}
	if (vfs_getattr_nosec(path, &stat, STATX_INO, AT_STATX_DONT_SYNC))
		return;
	file->dev = stat.dev;
	file->ino = stat.ino;
}

static void set_below(struct iot_path *e, const struct iot_below *below)
{
	e->roots = below->roots;
	e->epoch = below->epoch;
	if (below->roots || below->deep)
		e->file.kinds |= IOT_PATHS_BELOW;
}

/* Is what the path is below determined by its print? That ends at the root of the mount. */
static bool print_covers(const struct path *path)
{
	const struct super_block *sb = path->dentry->d_sb;

	return path->mnt->mnt_root == sb->s_root || !iot_below_may_be(sb);
}

/*
 * Resolve a path: set the text of @e, what it is below, its stamp and its print. @buf has
 * PATH_MAX bytes. Return: the text, or an error.
 */
static char *resolve_text(struct iot_path *e, const struct path *path, struct iot_below *below,
			  char *buf)
{
	struct moment now = moment_now();
	unsigned int left = DEPTH_MAX;
	char *text;
	u64 print;

	iot_below_find(path, below);
	set_below(e, below);
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
		e->print = print_covers(path) ? print : 0;
	}
	return text;
}

/*
 * Give @file its id. What stat(2) would report of the file may not be known, so the entry gets
 * IOT_PATH_COARSE. Return: 0, or an error and no id.
 */
static int resolve_atomic(struct iot_path *e, const struct path *path,
			  struct iot_paths_file *file)
{
	struct iot_below below;
	char *text;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return -EAGAIN;
	preempt_disable();
	text = resolve_text(e, path, &below, this_cpu_ptr(scratch));
	if (!IS_ERR(text)) {
		e->stamp |= IOT_PATH_COARSE;
		file->id = iot_path_table_keep(e, text, &below, GFP_NOWAIT);
	}
	preempt_enable();
	return PTR_ERR_OR_ZERO(text);
}

/* As above, for callers that may sleep. They may be inside a filesystem, so GFP_NOFS. */
static int resolve_sleeping(struct iot_path *e, const struct path *path,
			    struct iot_paths_file *file)
{
	char *buf = kmalloc(PATH_MAX, GFP_NOFS);
	struct iot_below below;
	char *text = buf ? resolve_text(e, path, &below, buf) : ERR_PTR(-ENOMEM);

	if (!IS_ERR(text))
		file->id = iot_path_table_keep(e, text, &below, GFP_NOFS);
	kfree(buf);
	return PTR_ERR_OR_ZERO(text);
}

static void count_missed(void)
{
	if (READ_ONCE(users))
		atomic64_inc(&nr_missed);
}

/* Offset of the namespace in struct mount, or an error if it is not known. */
static int mnt_ns_at;

/**
 * iot_paths_is_internal() - check whether a mount is one of the kernel's own
 *
 * No path of a program leads to it: overlayfs reaches the files below it through a private clone of
 * their mount, and so does acct(2). A mount that a program has made and not attached yet, or has
 * detached, is none (open_tree(2), fsmount(2), umount2(2)). If the namespace of mounts is not
 * known, clones count as a program's. Context: any; the caller keeps the mount alive.
 */
bool iot_paths_is_internal(const struct vfsmount *mnt)
{
	if (mnt->mnt_flags & MNT_INTERNAL)
		return true;
	return mnt_ns_at >= 0 && IS_ERR(iot_mount_namespace(mnt, mnt_ns_at));
}

static noinline void resolve(const struct path *path, bool may_sleep,
			     struct iot_paths_file *file)
{
	struct iot_path e IOT_UNINITIALIZED;
	int err;

	identify(path, may_sleep, file);
	prepare(&e, path, file);
	err = may_sleep ? resolve_sleeping(&e, path, file) : resolve_atomic(&e, path, file);
	file->kinds = e.file.kinds;
	if (!file->id && !(err == -EINVAL && iot_paths_is_internal(path->mnt)))
		count_missed();
}

/** iot_paths_resolve() - do iot_paths_of() for a path that has no current entry */
void iot_paths_resolve(const struct path *path, bool may_sleep, struct iot_paths_file *file)
{
	if (!revalidate(path, may_sleep, file))
		resolve(path, may_sleep, file);
}

/*
 * Does a stat of the file ask no server? A stat of overlayfs asks the filesystem of the layer.
 */
static bool stats_bounded(const struct path *path)
{
	return iot_sb_sleeps_bounded(d_real_inode(path->dentry)->i_sb);
}

/**
 * iot_paths_needs_stat() - check whether a file's device and inode number have yet to be found
 *
 * Then iot_paths_resolve() finds them, where the caller may sleep. Reads and writes are followed
 * where it may not. Context: task; the caller holds a reference to the file.
 */
bool iot_paths_needs_stat(const struct file *file)
{
	const struct path *path = &file->f_path;
	bool known;

	if (likely(!has_own_device(file_inode(file))))
		return false;
	preempt_disable_notrace();
	known = iot_paths_find(path, false) || iot_paths_find_again(path, false);
	preempt_enable_notrace();
	return !known && stats_bounded(path);
}

/**
 * iot_paths_find_inode() - find the path by which a file was last seen, if still current
 *
 * Context: any, preemption off; the caller keeps the inode alive. Return: whether it is known.
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
 * Compute the print of a path that comes from the table of mounts (mounts.c). It covers the
 * table's count of changes instead of the mounts. @left is as above. Return: 0 if there is none.
 */
static u64 print_of_name(const struct dentry *dentry, unsigned int *left)
{
	u32 table = iot_mounts_current();
	u64 print = mix(0, iot_path_table.secret[1], table, 0);

	return table ? print_below(dentry, dentry->d_sb->s_root, print, left) : 0;
}

/*
 * Compute the print of an entry again. Its dentry is alive. Its mount is alive, and may be
 * followed, only if no mount has changed since.
 */
static u64 print_again(const struct iot_path *e, const struct dentry *dentry,
		       const struct moment *now, unsigned int *left)
{
	if (!READ_ONCE(e->print)) /* and @mounts may be of any time */
		return 0;
	if (!e->key.mnt)
		return print_of_name(dentry, left);
	return READ_ONCE(e->mounts) == now->mounts ? print_of(dentry, e->key.mnt, left) : 0;
}

/* Check whether the dentry still has the entry's path. The inode's lock keeps it alive. */
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

/* Find a current path by which this name of the inode was seen, through any mount. */
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
 * Resolve a path for a file that was opened before tracing, from one of its names and where its
 * filesystem is mounted. @dentry is alive under RCU, and was a name of the inode. Return:
 * whether there is a path.
 */
static bool resolve_name(struct dentry *dentry, const struct inode *inode,
			 const struct moment *now, struct iot_paths_file *file)
{
	struct path path = { .dentry = dentry };
	unsigned int left = DEPTH_MAX;
	u64 print = print_of_name(dentry, &left);
	struct iot_below below;
	struct iot_path e;
	char *text;

	prepare(&e, &path, file);
	iot_below_none(&below);
	set_below(&e, &below);
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
	file->id = iot_path_table_keep(&e, text, &below, GFP_NOWAIT);
	return file->id;
}

/* Resolve a path by the names of the inode: one by which it was seen, or else one from a mount. */
static bool resolve_inode(struct inode *inode, struct iot_paths_file *file)
{
	struct moment now = moment_now();
	struct dentry *dentry, *name = NULL;
	const struct iot_path *e = NULL;
	/* one limit for all names of the inode, because interrupts may be off */
	unsigned int left = DEPTH_MAX;
	unsigned int n = 0;
	bool found;

	/* the interrupted code may hold the lock */
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
 * iot_paths_of_inode() - find or resolve the path of a file of which only the inode is known
 *
 * The path is one by which the file was seen before, under a name that it still has. Otherwise,
 * between iot_mounts_get() and iot_mounts_put(), it is one that the file has where its
 * filesystem is mounted. Context: any, preemption off; the caller keeps the inode alive.
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

/* Keep a text that leads to no file. Return: its id, or 0: there is no memory, which is counted. */
static u64 keep_text(struct iot_path *e, const char *text, const struct iot_below *below,
		     bool may_sleep)
{
	bool allowed = may_sleep || !IS_ENABLED(CONFIG_PREEMPT_RT);
	u64 id = 0;

	set_below(e, below);
	if (allowed)
		id = iot_path_table_keep(e, text, below, may_sleep ? GFP_NOFS : GFP_NOWAIT);
	if (!id)
		count_missed();
	return id;
}

/**
 * iot_paths_name() - get the id of a text that leads to no file
 * @below:	what it is below
 *
 * Context: task. Return: the id, or 0 if there is no memory, which is counted.
 */
u64 iot_paths_name(const char *text, size_t len, const struct iot_below *below, bool may_sleep)
{
	struct iot_path e = { .key.hash_len = siphash(text, len, &text_key), .len = len };

	return keep_text(&e, text, below, may_sleep);
}

/*
 * Labels: texts that are found by a hash of what they describe, so that none has to be made to find
 * it. The hash is keyed, so that no process can choose two things with one hash.
 */
#define LABEL_INO	1	/* in the key of a label; the other texts have 0 */

/** iot_paths_label_hash() - hash what a label describes. Context: any */
u64 iot_paths_label_hash(const void *what, size_t size)
{
	return siphash(what, size, &text_key);
}

/** iot_paths_label_find() - get the id of a label, or 0 if none is kept. Context: task */
u64 iot_paths_label_find(u64 hash)
{
	const struct iot_path *e;
	u64 id = 0;

	preempt_disable_notrace();
	hlist_for_each_entry_rcu_notrace(e, iot_path_head(NULL, NULL, hash), node)
		if (!e->key.dentry && e->key.hash_len == hash && e->key.ino == LABEL_INO)
			id = e->file.id;
	preempt_enable_notrace();
	return id;
}

/** iot_paths_label_keep() - as iot_paths_name(), for a label that was not found */
u64 iot_paths_label_keep(u64 hash, const char *text, size_t len, bool may_sleep)
{
	struct iot_path e = { .key.hash_len = hash, .key.ino = LABEL_INO, .len = len };
	struct iot_below below;

	iot_below_none(&below);
	return keep_text(&e, text, &below, may_sleep);
}

/** iot_paths_show() - print a path, escaped, or "?" if it is no longer in the table */
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

/** iot_paths_stats() - get the counts */
void iot_paths_stats(struct iot_paths_stats *stats)
{
	iot_path_table_stats(stats);
	stats->missed = atomic64_read(&nr_missed);
}

/*
 * Categories that run and readers of /proc/iotracer/paths need entries. While no category runs,
 * those entries are freed that no kept record names and no reader has yet to show.
 */
static LIST_HEAD(readers);		/* protected by users_lock */
static void (*mark_needed)(unsigned long *marks);

/* Caller holds users_lock. */
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
	iot_path_table_release();
}

static void age(struct work_struct *work);
static DECLARE_DELAYED_WORK(aging, age);
static struct moment aged;	/* counts when all entries were resolved again; by the worker */

/*
 * Entries stay current over a pause of this length: the counts cannot grow by AGE_MAX meanwhile,
 * either. So a stop and a start, to change a filter, cost no path.
 */
#define PAUSE_MAX		(10 * HZ)
static u64 paused;	/* jiffies since when no category runs; protected by users_lock */

/* Have all entries resolved again before the counts wrap. */
static void age(struct work_struct *work)
{
	struct moment now = moment_now();

	if (now.renames - aged.renames > AGE_MAX || now.mounts - aged.mounts > AGE_MAX) {
		iot_below_advance();
		iot_path_table_forget();
		aged = now;
	}
	schedule_delayed_work(&aging, AGING_PERIOD);
}

/** iot_paths_get() - open the table for a category that will run. Context: task, may sleep */
void iot_paths_get(void)
{
	mutex_lock(&users_lock);
	if (!users && time_after64(get_jiffies_64(), paused + PAUSE_MAX)) {
		iot_below_advance();
		iot_path_table_outdate();
		aged = moment_now();
	}
	iot_path_table_open();
	if (!users)
		schedule_delayed_work(&aging, AGING_PERIOD);
	WRITE_ONCE(users, users + 1);
	mutex_unlock(&users_lock);
}

/**
 * iot_paths_put() - undo iot_paths_get(), after the category has been stopped
 *
 * Context: task, may sleep; no lock of a log is held.
 */
void iot_paths_put(void)
{
	mutex_lock(&users_lock);
	WRITE_ONCE(users, users - 1);
	if (!users) {
		cancel_delayed_work_sync(&aging);
		iot_path_table_close();
		free_unneeded();
		paused = get_jiffies_64();
	}
	mutex_unlock(&users_lock);
}

/** iot_paths_tidy() - free what only dropped records named. Context: as for iot_paths_put() */
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

/** iot_paths_reader_remove() - free what only @rd needed. Context: as for iot_paths_put() */
void iot_paths_reader_remove(struct iot_paths_reader *rd)
{
	mutex_lock(&users_lock);
	list_del(&rd->node);
	free_unneeded();
	mutex_unlock(&users_lock);
}

/**
 * iot_paths_init() - set up at load
 * @mark:	marks, by iot_path_table_mark(), the paths that kept records name; may sleep
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
	else	/* mount_lock was not found: its count is not 0, as there have been mounts */
		mounts_are_known = *iot_path_table.mounts && iot_mount_is_known();
	mnt_ns_at = mounts_are_known ? iot_mount_namespace_at() : -ENOENT;
	return err;
}

/** iot_paths_exit() - free the table at unload, when no probe and no reader is left */
void iot_paths_exit(void)
{
	iot_path_table_exit();
	free_percpu(scratch);
}
