// SPDX-License-Identifier: GPL-2.0
/*
 * Paths that records name by number: resolved once, kept in a bounded table.
 *
 * An entry is one text and the file that had it. It is found by the address of
 * the dentry and of the mount, and holds neither: a filesystem can be unmounted
 * at any time. So that memory used again is not taken for the old file, the
 * dentry's parent and name and the inode's number have to be the same too. A
 * rename anywhere, which may change the path of any file below, is told by the
 * count of the kernel's rename_lock (fs/dcache.c): an entry that was made before
 * the last rename is resolved again, and stays if the text is the same.
 *
 * Numbers rise. The table keeps the last N entries; a new one takes the place of
 * the oldest, which is freed after RCU. A file whose entry went gets another one
 * with its next event.
 *
 * A path is text from the root of the mount namespace, also for a task in a
 * chroot; a deleted file keeps the path it had. What is in no namespace (any more)
 * has none.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stringhash.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "hook.h"
#include "mounts.h"
#include "param.h"
#include "path.h"
#include "paths.h"
#include "poller.h"
#include "schema.h"

static struct iot_path __rcu **slots;	/* by id, modulo their number */
static u64 nr_slots;			/* a power of two */
struct hlist_head iot_paths_buckets[BIT(IOT_PATHS_BITS)];

/* Insertions, from any context of a task; the table is read under RCU. */
static DEFINE_RAW_SPINLOCK(table_lock);
static u64 last_id;
static u64 nr_resolved, nr_evicted, nr_entries;
static size_t nr_bytes;
static atomic64_t nr_missed;

/* For paths resolved where one may not sleep: PATH_MAX bytes a CPU. */
static char __percpu *scratch;

/*
 * The paths by which files were seen last, by inode, for those who know nothing else
 * and may not ask its dentries. The inode is compared, never followed; its generation
 * tells it from another one that got its memory and its number. Written under
 * table_lock; a reader who meets a writer goes without.
 */
#define INODE_BITS	12

static struct inode_path {
	seqcount_t seq;
	const struct inode *inode;
	u64 ino;
	u32 generation;
	unsigned int moves;	/* odd, as in struct iot_path */
	struct iot_paths_file file;
} inode_paths[BIT(INODE_BITS)];

static void note_inode(const struct inode *inode, unsigned int moves,
		       const struct iot_paths_file *file)
{
	struct inode_path *i = &inode_paths[hash_ptr(inode, INODE_BITS)];
	unsigned long flags;

	raw_spin_lock_irqsave(&table_lock, flags);
	raw_write_seqcount_begin(&i->seq);
	i->inode = inode;
	i->ino = inode->i_ino;
	i->generation = inode->i_generation;
	i->moves = moves | 1;
	i->file = *file;
	raw_write_seqcount_end(&i->seq);
	raw_spin_unlock_irqrestore(&table_lock, flags);
}

/* Context: any, preemption off. */
static bool find_inode(const struct inode *inode, struct iot_paths_file *file)
{
	struct inode_path *i = &inode_paths[hash_ptr(inode, INODE_BITS)];
	unsigned int seq = raw_read_seqcount(&i->seq);
	struct inode_path found IOT_UNINITIALIZED;

	if (seq & 1)
		return false;
	data_race(found = *i); /* looked at if no writer came between only */
	if (read_seqcount_retry(&i->seq, seq))
		return false;
	if (found.inode != inode || found.ino != inode->i_ino ||
	    found.generation != inode->i_generation ||
	    found.moves != (iot_paths_moves() | 1))
		return false;
	*file = found.file;
	return true;
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

static void identify_path(struct iot_path_key *key, const struct path *path)
{
	const struct dentry *dentry = path->dentry;
	const struct inode *inode = d_backing_inode(dentry);

	key->dentry = dentry;
	key->mnt = path->mnt;
	key->parent = READ_ONCE(dentry->d_parent);
	key->hash_len = READ_ONCE(dentry->d_name.hash_len);
	key->ino = inode ? inode->i_ino : 0;
	key->hash = 0;
}

static bool key_equal(const struct iot_path_key *a, const struct iot_path_key *b)
{
	return a->dentry == b->dentry && a->mnt == b->mnt &&
	       a->parent == b->parent && a->hash_len == b->hash_len &&
	       a->ino == b->ino && a->hash == b->hash;
}

static struct hlist_head *bucket_of(const struct iot_path_key *key)
{
	if (key->dentry)
		return iot_paths_bucket(key->dentry);
	return &iot_paths_buckets[hash_32(key->hash, IOT_PATHS_BITS)];
}

/* Under RCU: the same text of the same file. */
static struct iot_path *find_same(const struct iot_path_key *key, const char *text,
				  size_t len, const struct iot_paths_file *file)
{
	struct iot_path *e;

	hlist_for_each_entry_rcu_notrace(e, bucket_of(key), node)
		if (key_equal(&e->key, key) && e->len == len &&
		    e->file.ino == file->ino && e->file.dev == file->dev &&
		    !memcmp(e->text, text, len))
			return e;
	return NULL;
}

static size_t entry_bytes(const struct iot_path *e)
{
	return sizeof(*e) + e->len + 1;
}

/* Give an entry its number and its place. Return: what had to go, or NULL. */
static struct iot_path *insert(struct iot_path *e)
{
	struct iot_path __rcu **slot;
	struct iot_path *old;

	e->file.id = last_id + 1;
	slot = &slots[e->file.id & (nr_slots - 1)];
	old = rcu_dereference_protected(*slot, lockdep_is_held(&table_lock));
	if (old) {
		hlist_del_rcu(&old->node);
		nr_evicted++;
		nr_entries--;
		nr_bytes -= entry_bytes(old);
	}
	nr_resolved++;
	nr_entries++;
	nr_bytes += entry_bytes(e);
	hlist_add_head_rcu(&e->node, bucket_of(&e->key));
	rcu_assign_pointer(*slot, e);
	WRITE_ONCE(last_id, e->file.id);
	return old;
}

/* The entry of @key and @text, made if need be. Return: its number or 0. */
static u64 keep(const struct iot_path_key *key, unsigned int moves, const char *text,
		size_t len, const struct iot_paths_file *file, gfp_t gfp)
{
	struct iot_path *e = kmalloc(sizeof(*e) + len + 1, gfp | __GFP_NOWARN);
	struct iot_path *known, *old = NULL;
	unsigned long flags;
	u64 id;

	if (!e)
		return 0;
	e->key = *key;
	e->moves = moves;
	e->file = *file;
	e->len = len;
	memcpy(e->text, text, len);
	e->text[len] = '\0';
	raw_spin_lock_irqsave(&table_lock, flags);
	known = find_same(key, text, len, file);
	if (known) {
		if (known->moves != (moves & ~1))
			WRITE_ONCE(known->moves, moves);
		id = known->file.id;
	} else {
		old = insert(e);
		id = e->file.id;
	}
	raw_spin_unlock_irqrestore(&table_lock, flags);
	if (known)
		kfree(e);
	if (old)
		kfree_rcu(old, rcu);
	return id;
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
	unsigned long args[IOT_HOOK_ARGS] = {
		(unsigned long)path, (unsigned long)buf, size
	};

	if (!is_named(path->dentry) || !absolute_path)
		return d_path(path, buf, size);
	return (char *)iot_hook_call(args, absolute_path);
}

/*
 * What stat(2) said of the file when it had perhaps another name, if that is known.
 * Under RCU.
 */
static void identify_again(const struct dentry *dentry, struct iot_paths_file *file)
{
	const struct iot_path *p;

	hlist_for_each_entry_rcu_notrace(p, iot_paths_bucket(dentry), node) {
		if (p->key.dentry != dentry || p->key.ino != file->ino ||
		    (READ_ONCE(p->moves) & 1))
			continue;
		file->dev = p->file.dev;
		file->ino = p->file.ino;
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

	file->dev = path->dentry->d_sb->s_dev;
	file->ino = inode ? inode->i_ino : 0;
	file->kind = inode ? iot_paths_kind(inode) : IOT_KIND_NONE;
	file->kinds = BIT(file->kind);
	/* pipes and the like have nothing else to say */
	if (!inode || !is_named(path->dentry))
		return;
	if (!may_sleep && !stats_at_once(inode)) {
		preempt_disable_notrace();
		identify_again(path->dentry, file);
		preempt_enable_notrace();
		return;
	}
	if (vfs_getattr_nosec(path, &stat, STATX_INO, AT_STATX_DONT_SYNC))
		return;
	file->dev = stat.dev;
	file->ino = stat.ino;
}

/*
 * Give @file its number. Return: 0 or an error, there is none then. What stat(2) would
 * say of the file is not known: the entry's odd count keeps it from everybody who may
 * sleep and so find out.
 */
static int resolve_atomic(const struct path *path, const struct iot_path_key *key,
			  unsigned int moves, struct iot_paths_file *file)
{
	char *text;

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return -EAGAIN;
	preempt_disable();
	text = iot_paths_text(path, this_cpu_ptr(scratch), PATH_MAX);
	if (!IS_ERR(text))
		file->id = keep(key, moves | 1, text, strlen(text), file, GFP_NOWAIT);
	preempt_enable();
	return PTR_ERR_OR_ZERO(text);
}

/* Likewise; a caller who may sleep may still be below a filesystem: GFP_NOFS. */
static int resolve_sleeping(const struct path *path, const struct iot_path_key *key,
			    unsigned int moves, struct iot_paths_file *file)
{
	char *buf = kmalloc(PATH_MAX, GFP_NOFS);
	char *text = buf ? iot_paths_text(path, buf, PATH_MAX) : ERR_PTR(-ENOMEM);

	if (!IS_ERR(text))
		file->id = keep(key, moves, text, strlen(text), file, GFP_NOFS);
	kfree(buf);
	return PTR_ERR_OR_ZERO(text);
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

/** iot_paths_resolve() - iot_paths_of() a path that is not known for @moves */
void iot_paths_resolve(const struct path *path, unsigned int moves, bool may_sleep,
		       struct iot_paths_file *file)
{
	struct iot_path_key key;
	int err;

	identify_path(&key, path);
	file->id = 0;
	identify(path, may_sleep, file);
	err = may_sleep ? resolve_sleeping(path, &key, moves, file) :
			  resolve_atomic(path, &key, moves, file);
	if (file->id) {
		if (d_backing_inode(path->dentry))
			note_inode(d_backing_inode(path->dentry), moves, file);
		return;
	}
	if (err == -EINVAL && is_internal(path))
		file->kinds = 0;
	else
		atomic64_inc(&nr_missed);
}

/* Under RCU: whatever mount it was last seen by. */
static const struct iot_path *find_by_dentry(const struct dentry *dentry, u64 ino)
{
	unsigned int moves = iot_paths_moves() | 1;
	const struct iot_path *p;

	hlist_for_each_entry_rcu_notrace(p, iot_paths_bucket(dentry), node)
		if (p->key.dentry == dentry && p->key.ino == ino &&
		    p->key.parent == READ_ONCE(dentry->d_parent) &&
		    p->key.hash_len == READ_ONCE(dentry->d_name.hash_len) &&
		    (READ_ONCE(p->moves) | 1) == moves)
			return p;
	return NULL;
}

/*
 * A path for what no program was seen to open: of one of its names, where its filesystem
 * is mounted. @dentry is alive under RCU, and was the inode's. Return: is there one?
 */
static bool resolve_name(struct dentry *dentry, const struct inode *inode,
			 unsigned int moves, struct iot_paths_file *file)
{
	struct path path = { .dentry = dentry };
	struct iot_path_key key;
	char *text;

	identify_path(&key, &path);
	text = iot_mounts_text(dentry, this_cpu_ptr(scratch), PATH_MAX);
	if (IS_ERR(text) || READ_ONCE(dentry->d_inode) != inode)
		return false;
	file->id = keep(&key, moves | 1, text, strlen(text), file, GFP_NOWAIT);
	return file->id;
}

/*
 * From the names of the inode: the path by which it was seen, or that one of them has.
 * For the latter interrupts have to be on: who they interrupt may hold rename_lock.
 */
static bool resolve_inode(struct inode *inode, struct iot_paths_file *file)
{
	unsigned int moves = iot_paths_moves();
	struct dentry *dentry, *name = NULL;
	const struct iot_path *p = NULL;
	bool found;

	/* who holds the lock may be what this interrupts */
	if (!in_task() || IS_ENABLED(CONFIG_PREEMPT_RT) || !spin_trylock(&inode->i_lock))
		return false;
	rcu_read_lock();
	hlist_for_each_entry(dentry, &inode->i_dentry, d_u.d_alias) {
		p = find_by_dentry(dentry, inode->i_ino);
		if (p)
			break;
		if (!name && !(READ_ONCE(dentry->d_flags) & DCACHE_DISCONNECTED))
			name = dentry;
	}
	spin_unlock(&inode->i_lock);
	if (p)
		*file = p->file;
	found = p || (name && !irqs_disabled() && resolve_name(name, inode, moves, file));
	rcu_read_unlock();
	if (found)
		note_inode(inode, moves, file);
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
	if (find_inode(inode, file))
		return;
	file->id = 0;
	file->dev = inode->i_sb->s_dev;
	file->ino = inode->i_ino;
	file->kind = iot_paths_kind(inode);
	file->kinds = BIT(file->kind);
	if (!resolve_inode(inode, file))
		atomic64_inc(&nr_missed);
}

/**
 * iot_paths_name() - the number of a text that leads to no file
 *
 * Context: task. Return: the number, or 0, counted: no memory.
 */
u64 iot_paths_name(const char *text, size_t len, bool may_sleep)
{
	struct iot_path_key key = { .hash = full_name_hash(NULL, text, len) };
	struct iot_paths_file none = { 0 };
	bool allowed = may_sleep || !IS_ENABLED(CONFIG_PREEMPT_RT);
	u64 id = 0;

	if (allowed)
		id = keep(&key, 0, text, len, &none,
			  may_sleep ? GFP_NOFS : GFP_NOWAIT);
	if (!id)
		atomic64_inc(&nr_missed);
	return id;
}

/* Under RCU. */
static const struct iot_path *entry_at(u64 id)
{
	const struct iot_path *e = rcu_dereference(slots[id & (nr_slots - 1)]);

	return e && e->file.id == id ? e : NULL;
}

/** iot_paths_show() - print a path, escaped, or ? where it is forgotten */
void iot_paths_show(struct seq_file *m, u64 id)
{
	const struct iot_path *e;

	rcu_read_lock();
	e = entry_at(id);
	if (e)
		iot_path_escape(m, e->text);
	else
		seq_putc(m, '?');
	rcu_read_unlock();
}

/** iot_paths_stats() - counts */
void iot_paths_stats(struct iot_paths_stats *stats)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&table_lock, flags);
	stats->entries = nr_entries;
	stats->resolved = nr_resolved;
	stats->evicted = nr_evicted;
	stats->bytes = nr_bytes;
	raw_spin_unlock_irqrestore(&table_lock, flags);
	stats->missed = atomic64_read(&nr_missed);
}

/**
 * struct reader - an open /proc/iotracer/paths
 * @lock:	one read at a time
 * @next:	number of the next entry to show
 * @begun:	the header was shown
 * @record:	one entry, as it is shown
 */
struct reader {
	struct mutex lock;	/* of what follows */
	u64 next;
	bool begun;
	char record[sizeof(struct iot_path_record) + round_up(PATH_MAX, 8)];
};

static int paths_open(struct inode *inode, struct file *file)
{
	struct reader *rd = kvzalloc(sizeof(*rd), GFP_KERNEL);

	if (!rd)
		return -ENOMEM;
	mutex_init(&rd->lock);
	rd->next = 1;
	file->private_data = rd;
	iot_poller_get();
	return nonseekable_open(inode, file);
}

static int paths_release(struct inode *inode, struct file *file)
{
	struct reader *rd = file->private_data;

	iot_poller_put();
	mutex_destroy(&rd->lock);
	kvfree(rd);
	return 0;
}

/* Put the next entry into @rd->record. Return: its size, 0 for none. */
static size_t take_record(struct reader *rd)
{
	struct iot_path_record *r = (struct iot_path_record *)rd->record;
	u64 last = READ_ONCE(last_id);
	const struct iot_path *e;
	size_t size = 0;

	if (last > nr_slots && rd->next <= last - nr_slots)
		rd->next = last - nr_slots + 1;
	rcu_read_lock();
	while (!size && rd->next <= last) {
		e = entry_at(rd->next++);
		if (!e)
			continue;
		r->id = e->file.id;
		r->inode = e->file.ino;
		r->device = e->file.dev;
		r->length = e->len;
		size = sizeof(*r) + round_up(e->len, 8);
		memset(rd->record + size - 8, 0, 8);
		memcpy(r + 1, e->text, e->len);
		if (!e->len)
			size = sizeof(*r);
	}
	rcu_read_unlock();
	return size;
}

static ssize_t read_header(struct reader *rd, char __user *buf)
{
	struct iot_stream_header header = {
		.magic = IOT_STREAM_MAGIC,
		.version = IOT_STREAM_VERSION,
		.header_size = sizeof(header),
		.schema = iot_schema_hash(),
		.layout = IOT_LAYOUT_PATHS,
	};

	if (copy_to_user(buf, &header, sizeof(header)))
		return -EFAULT;
	rd->begun = true;
	return sizeof(header);
}

static ssize_t read_records(struct reader *rd, char __user *buf, size_t count)
{
	size_t size, done = 0;

	while (done + sizeof(rd->record) <= count) {
		size = take_record(rd);
		if (!size)
			break;
		if (copy_to_user(buf + done, rd->record, size)) {
			rd->next--;
			return done ?: -EFAULT;
		}
		done += size;
		cond_resched();
	}
	return done;
}

/* Whole records only: a buffer has to have room for the longest. */
static ssize_t paths_read(struct file *file, char __user *buf, size_t count,
			  loff_t *ppos)
{
	struct reader *rd = file->private_data;
	ssize_t ret = 0, n;

	if (count < sizeof(rd->record) + sizeof(struct iot_stream_header))
		return -EINVAL;
	if (mutex_lock_interruptible(&rd->lock))
		return -EINTR;
	if (!rd->begun)
		ret = read_header(rd, buf);
	if (ret >= 0) {
		n = read_records(rd, buf + ret, count - ret);
		ret = n < 0 && !ret ? n : ret + max_t(ssize_t, n, 0);
	}
	mutex_unlock(&rd->lock);
	return ret;
}

static __poll_t paths_poll(struct file *file, struct poll_table_struct *wait)
{
	struct reader *rd = file->private_data;

	iot_poller_wait(file, wait);
	if (!READ_ONCE(rd->begun) || READ_ONCE(rd->next) <= READ_ONCE(last_id))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

const struct proc_ops iot_paths_ops = {
	.proc_open = paths_open,
	.proc_read = paths_read,
	.proc_poll = paths_poll,
	.proc_lseek = noop_llseek,
	.proc_release = paths_release,
};

/** iot_paths_init() - at load; the table is small until there are paths */
int iot_paths_init(void)
{
	absolute_path = iot_hook_symbol("d_absolute_path");
	nr_slots = roundup_pow_of_two(iot_param_paths_limit());
	slots = kvcalloc(nr_slots, sizeof(*slots), GFP_KERNEL);
	scratch = __alloc_percpu(PATH_MAX, 8);
	if (slots && scratch)
		return 0;
	iot_paths_exit();
	return -ENOMEM;
}

/** iot_paths_exit() - at unload: no probe and no reader is left */
void iot_paths_exit(void)
{
	u64 i;

	for (i = 0; slots && i < nr_slots; i++)
		kfree(rcu_dereference_protected(slots[i], true));
	kvfree(slots);
	free_percpu(scratch);
}
