// SPDX-License-Identifier: GPL-2.0
/*
 * Which files and block devices are traced: lookup, lifetime, rings.
 *
 * Probes look an inode up in two steps. A bit of iot_target_filter says that no
 * running target has this inode's hash: that is all that other files cost, and
 * with 10,000 targets 98 of 100 untraced files still stop there. Else the
 * running targets of a bucket are compared. Both tables are static and never
 * move, so the filter needs no RCU; the targets in the buckets do.
 *
 * A target is identified by superblock device, inode number and generation, on
 * btrfs by UUID and file handle, so nothing of the filesystem is held:
 * unmounting, deleting and unloading go on as if it were not there. A target that
 * is stopped is in no table of the probes.
 *
 * A block device is a target by its file in /dev like any other, for what programs
 * read and write through that; and by its number, for all that is submitted to it,
 * whoever does it. Nothing is held of it either: it may go, and what comes with the
 * same number is traced.
 *
 * A probe holds a target only while preemption is off; a call that may sleep
 * keeps the target's id and looks it up again when it returns.
 *
 * Rings are replaced as a whole (reset, resize): writers that were in the old
 * one when it was replaced finish there.
 */
#include <linux/exportfs.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include "budget.h"
#include "control.h"
#include "param.h"
#include "probe.h"
#include "target.h"

unsigned long iot_target_filter[BITS_TO_LONGS(BIT(IOT_FILTER_BITS))];
unsigned int iot_target_running;
struct hlist_head iot_target_buckets[BIT(IOT_BUCKET_BITS)];
struct hlist_head iot_target_devices;

/* Changes of the tables above; leaf lock. */
static DEFINE_MUTEX(tables_lock);

/* All targets, by inode number; control.c's lock protects it. */
static DEFINE_HASHTABLE(all, 12);

static u64 last_serial;

/**
 * iot_target_fh_matches() - compare the part of a key that fields do not show
 *
 * btrfs numbers inodes per subvolume, and a snapshot's copy of a file has its
 * generation too. The export operations of the filesystem name the subvolume:
 * btrfs_encode_fh() reads fields of the inode and takes no lock. Those of another
 * filesystem, which might sleep, are not called.
 * Context: any.
 */
bool iot_target_fh_matches(const struct iot_key *key, struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;
	u32 fh[IOT_FH_WORDS];
	int words = IOT_FH_WORDS;
	int type;

	if (sb->s_magic != key->magic || !uuid_equal(&sb->s_uuid, &key->uuid))
		return false;
	type = sb->s_export_op->encode_fh(inode, fh, &words, NULL);
	return type == key->fh_type && words == key->fh_words &&
	       !memcmp(fh, key->fh, words * sizeof(*fh));
}

/*
 * A filesystem on block devices whose superblock has a device number from the
 * pool: at the next mount it may have another, and another filesystem this one.
 */
static bool is_dev_lent(const struct super_block *sb)
{
	return !MAJOR(sb->s_dev) && (sb->s_type->fs_flags & FS_REQUIRES_DEV) &&
	       !uuid_is_null(&sb->s_uuid);
}

static void identify(struct iot_key *key, struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;
	const struct export_operations *ops = sb->s_export_op;
	int words = IOT_FH_WORDS;
	int type;

	key->ino = inode->i_ino;
	key->dev = sb->s_dev;
	key->generation = inode->i_generation;
	if (!is_dev_lent(sb) || !ops || !ops->encode_fh)
		return;
	type = ops->encode_fh(inode, key->fh, &words, NULL);
	if (type <= 0 || type == FILEID_INVALID)
		return;
	key->fh_type = type;
	key->fh_words = words;
	key->magic = sb->s_magic;
	uuid_copy(&key->uuid, &sb->s_uuid);
}

/* Rings */

static size_t ring_size(u64 keep)
{
	return iot_ring_bytes(keep, sizeof(struct iot_io));
}

static struct iot_ring *ring_alloc(u64 keep, u64 first)
{
	size_t bytes = ring_size(keep);
	struct iot_ring *ring;

	if (bytes <= KMALLOC_MAX_CACHE_SIZE)
		ring = kzalloc(bytes, GFP_KERNEL | __GFP_NOWARN);
	else
		ring = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
				 __GFP_RETRY_MAYFAIL);
	if (ring)
		iot_ring_init(ring, keep, sizeof(struct iot_io), first);
	return ring;
}

static int check_max_events(u64 max_events)
{
	u64 limit = iot_param_max_events_limit();

	if (max_events <= limit)
		return 0;
	pr_err("max_events %llu is above max_events_limit=%llu: take fewer or raise the parameter\n",
	       max_events, limit);
	return -ENOMEM;
}

/*
 * A ring that takes the place of one of @old_keep records, 0 for none. Only what
 * it is larger is charged: the two are there together no longer than it takes to
 * change them, and who is at the limit can still shrink.
 */
static struct iot_ring *ring_new(u64 keep, u64 old_keep, u64 first)
{
	size_t old = old_keep ? ring_size(old_keep) : 0;
	struct iot_ring *ring;
	size_t bytes;

	if (check_max_events(keep))
		return NULL;
	bytes = ring_size(keep); /* which overflows where the number is not checked */
	if (bytes > old && !iot_budget_take(bytes - old, "a log"))
		return NULL;
	ring = ring_alloc(keep, first);
	if (bytes > old && !ring)
		iot_budget_give(bytes - old);
	if (bytes < old && ring)
		iot_budget_give(old - bytes);
	return ring;
}

/* The ring is in no target any more, but writers may be at work in it. */
static void ring_free(struct iot_ring *ring)
{
	iot_budget_give(ring_size(ring->keep));
	kvfree_rcu_mightsleep(ring);
}

static struct iot_ring *ring_of(struct iot_target *t)
{
	return rcu_dereference_protected(t->ring, lockdep_is_held(&t->lock));
}

/* The tables of running targets */

static bool filter_shared(const struct iot_target *t, u64 hash)
{
	struct iot_target *other;

	hlist_for_each_entry(other, iot_target_bucket(hash), hot)
		if (other != t && iot_target_hash(other->key.ino) == hash)
			return true;
	return false;
}

static void publish(struct iot_target *t)
{
	u64 hash = iot_target_hash(t->key.ino);

	mutex_lock(&tables_lock);
	hlist_add_head_rcu(&t->hot, iot_target_bucket(hash));
	if (t->device)
		hlist_add_head_rcu(&t->device_node, &iot_target_devices);
	set_bit(hash, iot_target_filter);
	WRITE_ONCE(iot_target_running, iot_target_running + 1);
	mutex_unlock(&tables_lock);
}

static void unpublish(struct iot_target *t)
{
	u64 hash = iot_target_hash(t->key.ino);

	mutex_lock(&tables_lock);
	if (!filter_shared(t, hash))
		clear_bit(hash, iot_target_filter);
	hlist_del_rcu(&t->hot);
	if (t->device)
		hlist_del_rcu(&t->device_node);
	WRITE_ONCE(iot_target_running, iot_target_running - 1);
	mutex_unlock(&tables_lock);
}

static int start_locked(struct iot_target *t)
{
	int err;

	if (t->running)
		return 0;
	err = iot_vfs_enable(&t->hooks);
	if (err)
		return err;
	if (t->hooks.block) {
		err = iot_block_attach();
		if (err)
			goto disable_vfs;
	}
	publish(t);
	t->running = true;
	return 0;

disable_vfs:
	iot_vfs_disable(&t->hooks);
	return err;
}

/**
 * iot_target_start() - trace; nothing to do where it runs already
 *
 * Context: task, may sleep long: the first target of a filesystem patches text.
 */
int iot_target_start(struct iot_target *t)
{
	int err;

	mutex_lock(&t->lock);
	err = start_locked(t);
	mutex_unlock(&t->lock);
	return err;
}

/** iot_target_stop() - do not trace; what is in the log stays */
void iot_target_stop(struct iot_target *t)
{
	mutex_lock(&t->lock);
	if (t->running) {
		t->running = false;
		unpublish(t);
		if (t->hooks.block)
			iot_block_detach();
		iot_vfs_disable(&t->hooks);
	}
	mutex_unlock(&t->lock);
}

/**
 * iot_target_reset() - empty the log, and the counts with it
 * @t:		the target
 * @new_t0:	let time start now
 *
 * Events under way end up in the new log or in none.
 * Return: 0 or -ENOMEM; then nothing has changed.
 */
int iot_target_reset(struct iot_target *t, bool new_t0)
{
	struct iot_ring *old, *new;

	mutex_lock(&t->lock);
	old = ring_of(t);
	new = ring_alloc(old->keep, atomic64_read(&old->head));
	if (!new) {
		mutex_unlock(&t->lock);
		return -ENOMEM;
	}
	rcu_assign_pointer(t->ring, new);
	t->carried = 0;
	if (new_t0)
		t->t0 = ktime_get_mono_fast_ns();
	mutex_unlock(&t->lock);
	kvfree_rcu_mightsleep(old);
	return 0;
}

/*
 * Copy the newest records of @old, in which nobody writes any more, into @new
 * below new->first, where @end is the place of the first index behind @old.
 */
static void ring_carry(struct iot_ring *new, const struct iot_ring *old)
{
	u64 end, from = iot_ring_window(old, &end);
	struct iot_io record;
	int class;
	u64 i;

	if (end - from > new->first)
		from = end - new->first;
	for (i = from; i < end; i++) {
		if (iot_ring_read(old, i, (u64 *)&record) != IOT_RING_OK)
			continue;
		/* who wants that slot meanwhile goes without */
		preempt_disable();
		iot_ring_put(new, new->first - (end - i), (u64 *)&record);
		preempt_enable();
	}
	WRITE_ONCE(new->base, new->first - (end - from));
	for (class = 0; class < IOT_RING_CLASSES; class++) {
		atomic64_add(atomic64_read(&old->seen[class]), &new->seen[class]);
		atomic64_add(atomic64_read(&old->lost[class]), &new->lost[class]);
	}
}

/**
 * iot_target_resize() - another max_events; the newest events stay
 *
 * Return: 0 or -ENOMEM; then nothing has changed.
 */
int iot_target_resize(struct iot_target *t, u64 max_events)
{
	struct iot_ring *old, *new;
	u64 old_end;

	mutex_lock(&t->lock);
	old = ring_of(t);
	if (old->keep == max_events) {
		mutex_unlock(&t->lock);
		return 0;
	}
	new = ring_new(max_events, old->keep, min(max_events, old->keep));
	if (!new) {
		mutex_unlock(&t->lock);
		return -ENOMEM;
	}
	rcu_assign_pointer(t->ring, new);
	synchronize_rcu(); /* the last writer of the old ring is done */
	old_end = atomic64_read(&old->head);
	ring_carry(new, old);
	t->carried += old_end - old->first;
	t->shift += old_end - new->first;
	mutex_unlock(&t->lock);
	kvfree_rcu_mightsleep(old);
	return 0;
}

u64 iot_target_max_events(struct iot_target *t)
{
	u64 keep;

	mutex_lock(&t->lock);
	keep = ring_of(t)->keep;
	mutex_unlock(&t->lock);
	return keep;
}

/* Count what a reader would be shown, by level. */
static void count_stored(const struct iot_ring *ring,
			 struct iot_target_stats stats[IOT_LEVELS])
{
	u64 end, i = iot_ring_window(ring, &end);
	struct iot_io record;

	for (; i < end; i++) {
		if (iot_ring_read(ring, i, (u64 *)&record) == IOT_RING_OK)
			stats[record.level & 1].stored++;
		cond_resched();
	}
}

/**
 * iot_target_stats() - count
 * @t:		the target
 * @stats:	by level
 * @overwritten: of all levels, from the places in the ring, not from @stats
 *
 * seen comes from the writers' counters, the rest from the ring: that they agree
 * when nobody writes is a law that tests check.
 */
void iot_target_stats(struct iot_target *t, struct iot_target_stats stats[IOT_LEVELS],
		      u64 *overwritten)
{
	const struct iot_ring *ring;
	u64 taken, kept = 0;
	int level;

	memset(stats, 0, IOT_LEVELS * sizeof(*stats));
	mutex_lock(&t->lock);
	ring = ring_of(t);
	count_stored(ring, stats);
	taken = t->carried + atomic64_read(&ring->head) - ring->first;
	for (level = 0; level < IOT_LEVELS; level++) {
		struct iot_target_stats *s = &stats[level];

		s->seen = atomic64_read(&ring->seen[level]);
		s->lost = atomic64_read(&ring->lost[level]);
		kept += s->stored + s->lost;
		s->overwritten = s->seen - min(s->seen, s->stored + s->lost);
	}
	stats[IOT_LEVEL_VFS].missed = iot_vfs_missed(&t->hooks);
	stats[IOT_LEVEL_BLK].missed = t->hooks.block ? iot_block_missed() : 0;
	mutex_unlock(&t->lock);
	*overwritten = taken - min(taken, kept);
}

/** iot_target_bytes() - memory that a target and its log hold */
size_t iot_target_bytes(struct iot_target *t)
{
	size_t bytes = sizeof(*t);

	mutex_lock(&t->lock);
	bytes += ring_size(ring_of(t)->keep);
	mutex_unlock(&t->lock);
	return bytes;
}

/* All targets */

/**
 * iot_target_lookup() - the target that a file is, running or not
 *
 * Context: task, under control.c's lock; the caller holds the inode.
 */
struct iot_target *iot_target_lookup(struct inode *inode)
{
	struct iot_target *t;

	hash_for_each_possible(all, t, cold, inode->i_ino)
		if (iot_target_is(&t->key, inode))
			return t;
	return NULL;
}

/** iot_target_for_each() - call @fn for all; under control.c's lock */
void iot_target_for_each(void (*fn)(struct iot_target *t, void *data), void *data)
{
	struct hlist_node *next;
	struct iot_target *t;
	int bucket;

	hash_for_each_safe(all, bucket, next, t, cold)
		fn(t, data);
}

/* By another file with this number, whose name has it; by a device, whatever its. */
static bool name_taken(const struct iot_target *new)
{
	struct iot_target *t;
	int bucket;

	if (!new->device) {
		hash_for_each_possible(all, t, cold, new->key.ino)
			if (!strcmp(t->name, new->name))
				return true;
		return false;
	}
	hash_for_each(all, bucket, t, cold)
		if (!strcmp(t->name, new->name))
			return true;
	return iot_control_has(new->name);
}

/*
 * <s_id>_<inode>, of a device as devtmpfs calls it, in other places <major>:<minor>;
 * where another target has this name (a second tmpfs, a subvolume, a deleted file's
 * inode used again), or something else in /proc/iotracer, _2, _3 … is appended.
 */
static void name_init(struct iot_target *t, const struct dentry *dentry)
{
	const struct super_block *sb = dentry->d_sb;
	unsigned int n = 2;
	char name[IOT_NAME_LEN - 8];

	if (!t->device)
		snprintf(name, sizeof(name), "%s_%llu", sb->s_id, t->st_ino);
	else if (!strcmp(sb->s_type->name, "devtmpfs"))
		snprintf(name, sizeof(name), "%pd", dentry);
	else
		snprintf(name, sizeof(name), "%u:%u", MAJOR(t->device), MINOR(t->device));
	strreplace(name, '/', '!');
	strscpy(t->name, name, sizeof(t->name));
	while (name_taken(t))
		snprintf(t->name, sizeof(t->name), "%s_%u", name, n++);
}

/** iot_target_link() - the link of a target with that path, or NULL */
struct iot_link *iot_target_link(struct iot_target *t, const char *path)
{
	struct iot_link *link;

	list_for_each_entry(link, &t->links, list)
		if (!strcmp(link->path, path))
			return link;
	return NULL;
}

/** iot_link_add() - append a path to a list, to be freed by kfree() */
int iot_link_add(struct list_head *links, const char *path)
{
	size_t len = strlen(path) + 1;
	struct iot_link *link;

	link = kmalloc(sizeof(*link) + len, GFP_KERNEL);
	if (!link)
		return -ENOMEM;
	memcpy(link->path, path, len);
	list_add_tail(&link->list, links);
	return 0;
}

/** iot_target_add_link() - list a target under one more path */
int iot_target_add_link(struct iot_target *t, const char *path)
{
	return iot_target_link(t, path) ? 0 : iot_link_add(&t->links, path);
}

static struct iot_target *alloc_target(const struct path *path,
				       const struct kstat *stat)
{
	struct inode *inode = d_inode(path->dentry);
	struct iot_target *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return NULL;
	identify(&t->key, inode);
	t->device = S_ISBLK(inode->i_mode) ? inode->i_rdev : 0;
	t->st_dev = stat->dev;
	t->st_ino = stat->ino;
	t->id = ++last_serial << IOT_BUCKET_BITS |
		iot_target_bucket_nr(iot_target_hash(inode->i_ino));
	INIT_LIST_HEAD(&t->links);
	mutex_init(&t->lock);
	name_init(t, path->dentry);
	return t;
}

/**
 * iot_target_create() - make a file a target, and trace it
 * @path:	of the file
 * @stat:	STATX_INO of it
 * @max_events:	at least 1
 *
 * The caller adds a link and the folder in /proc.
 * Context: task, under control.c's lock.
 * Return: the target, or an error: -EOPNOTSUPP (no ->read_iter), -ENOMEM (memory
 * or a limit), or why a hook could not be attached.
 */
struct iot_target *iot_target_create(const struct path *path, const struct kstat *stat,
				     u64 max_events)
{
	struct iot_target *t;
	struct iot_ring *ring;
	int err;

	t = alloc_target(path, stat);
	if (!t)
		return ERR_PTR(-ENOMEM);
	err = iot_vfs_get(&t->hooks, d_inode(path->dentry));
	if (err)
		goto free_target;
	t->hooks.block |= t->device != 0;
	err = -ENOMEM;
	ring = ring_new(max_events, 0, 0);
	if (!ring)
		goto put_hooks;
	RCU_INIT_POINTER(t->ring, ring);
	t->t0 = ktime_get_mono_fast_ns();
	err = iot_target_start(t);
	if (err)
		goto free_ring;
	hash_add(all, &t->cold, t->key.ino);
	return t;

free_ring:
	ring_free(ring);
put_hooks:
	iot_vfs_put(&t->hooks);
free_target:
	mutex_destroy(&t->lock);
	kfree(t);
	return ERR_PTR(err);
}

/**
 * iot_target_remove() - stop tracing and free
 * @t:	its folder in /proc is gone, so nobody else holds it but probes
 */
void iot_target_remove(struct iot_target *t)
{
	struct iot_link *link, *next;

	iot_target_stop(t);
	hash_del(&t->cold);
	list_for_each_entry_safe(link, next, &t->links, list)
		kfree(link);
	iot_vfs_put(&t->hooks);
	ring_free(rcu_dereference_protected(t->ring, true));
	mutex_destroy(&t->lock);
	kfree_rcu(t, rcu);
}

static void remove_one(struct iot_target *t, void *data)
{
	iot_target_remove(t);
}

/** iot_target_remove_all() - at unload, when /proc/iotracer is gone */
void iot_target_remove_all(void)
{
	iot_target_for_each(remove_one, NULL);
}
