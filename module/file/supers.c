// SPDX-License-Identifier: GPL-2.0
/*
 * Walks through all filesystems, and their files in memory, without waiting for any of them.
 *
 * The kernel's own iterate_supers() waits for each filesystem: until it is mounted, and until its
 * lock, s_umount, is free. Both may take forever: a user may mount a filesystem on a server that
 * does not answer, and an unmount, a remount or a freeze writes back dirty data. So this walk goes
 * through the kernel's list itself (fs/super.c), and only tries the lock, as the kernel does when
 * it frees memory (super_trylock_shared()).
 *
 * A filesystem that is being mounted has no open file yet, and one that is being shut down has none
 * any more. Any other filesystem whose lock is not free soon is skipped and counted.
 *
 * While the lock is held, the filesystem stays in the list, and is not unmounted. Other tasks that
 * unmount it wait for the walk, so it must not take long.
 *
 * Releasing the last reference to a file may delete the file, and wait until it is written back. So
 * a walk leaves this to a worker (core/aside.c), which keeps the filesystem in memory until then.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "core/aside.h"
#include "hook/symbol.h"
#include "file/supers.h"

/* For how long a walk tries to get locks that are taken. */
#define MAX_TRIES	20
#define PAUSE_MS	10

#define MAX_PASSED	1024	/* unused files, before one is used to keep the position */

/* super_blocks and sb_lock, fs/super.c */
static struct list_head *supers;
static spinlock_t *supers_lock;

/* Find the kernel's list. Return: false if the kernel does not tell where it is. */
static bool find_list(void)
{
	struct list_head *list;

	if (smp_load_acquire(&supers)) /* @supers_lock is set */
		return true;
	supers_lock = (spinlock_t *)iot_symbol_data("sb_lock");
	list = (struct list_head *)iot_symbol_data("super_blocks");
	if (!supers_lock || !list)
		return false;
	smp_store_release(&supers, list); /* after @supers_lock */
	return true;
}

/* Get the lock of a mounted filesystem if it is free. Context: under @supers_lock */
static bool try_lock(struct super_block *sb)
{
	if (!down_read_trylock(&sb->s_umount))
		return false;
	if (sb->s_root && (sb->s_flags & SB_BORN))
		return true;
	up_read(&sb->s_umount);
	return false;
}

/* May files be open on a filesystem whose lock is taken? Context: under @supers_lock */
static bool may_have_files(const struct super_block *sb)
{
	return (READ_ONCE(sb->s_flags) & SB_BORN) && READ_ONCE(sb->s_root) &&
	       atomic_read(&sb->s_active);
}

/* Is a filesystem whose lock is taken just being unmounted? Context: under @supers_lock */
static bool is_closing(const struct super_block *sb)
{
	return (READ_ONCE(sb->s_flags) & SB_BORN) && !list_empty(&sb->s_inodes);
}

/**
 * struct walk - a walk through all filesystems
 * @at:		filesystem whose lock is held, NULL at the beginning
 * @tries:	left to get a lock that is taken
 * @left:	what it has left out
 */
struct walk {
	struct super_block *at;
	unsigned int tries;
	struct iot_supers_left left;
};

/*
 * Find the next filesystem, and lock it.
 * Context: under @supers_lock, which protects the list. Return: the filesystem; NULL if there is
 * none; or -EAGAIN if one is busy and another try is left.
 */
static struct super_block *find_next(struct walk *w)
{
	struct list_head *pos = w->at ? &w->at->s_list : supers;
	struct iot_supers_left left = {};
	struct super_block *sb = NULL;

	while ((pos = pos->next) != supers) {
		sb = list_entry(pos, struct super_block, s_list);
		if (try_lock(sb))
			break;
		if (!may_have_files(sb)) {
			left.closing += is_closing(sb);
			continue;
		}
		if (w->tries)
			return ERR_PTR(-EAGAIN);
		left.busy++;
	}
	w->left.busy += left.busy;
	w->left.closing += left.closing;
	return pos == supers ? NULL : sb;
}

/* Go on to the next filesystem, with its lock instead of that of the present one. */
static struct super_block *next(struct walk *w)
{
	struct super_block *sb;

	for (;;) {
		spin_lock(supers_lock);
		sb = find_next(w);
		if (!IS_ERR(sb))
			break;
		spin_unlock(supers_lock);
		w->tries = fatal_signal_pending(current) ? 0 : w->tries - 1;
		msleep(PAUSE_MS);
	}
	/* under @supers_lock, so that no other task frees it while it is being unlocked */
	if (w->at)
		up_read(&w->at->s_umount);
	spin_unlock(supers_lock);
	w->at = sb;
	return sb;
}

/**
 * iot_supers_walk() - call @fn for each mounted filesystem until it returns false
 *
 * Its s_umount is held for reading meanwhile.
 * Context: task, may sleep, inside a visit (core/visit.c). Waits for no filesystem: for locks that
 * are taken MAX_TRIES * PAUSE_MS at most.
 * Return: 0, or -EOPNOTSUPP if the kernel's list is not found: it is built without
 * CONFIG_KALLSYMS_ALL.
 */
int iot_supers_walk(bool (*fn)(struct super_block *sb, void *data), void *data,
		    struct iot_supers_left *left)
{
	struct walk w = { .tries = MAX_TRIES };
	bool more = true;

	if (!find_list())
		return -EOPNOTSUPP;
	while (more && next(&w))
		more = fn(w.at, data);
	if (!more) {
		spin_lock(supers_lock);
		up_read(&w.at->s_umount);
		spin_unlock(supers_lock);
	}
	*left = w.left;
	return 0;
}

/* A file whose last reference was ours. The filesystem is kept in memory by @sb. */
struct parting {
	struct iot_aside aside;
	struct inode *inode;
	struct super_block *sb;
};

static void part(struct work_struct *work)
{
	struct parting *p = container_of(work, struct parting, aside.work);

	iput(p->inode);
	deactivate_super(p->sb);
	iot_aside_end(&p->aside);
	kfree(p);
}

/* Release a reference to a file, or NULL, without waiting. Context: its s_umount is held. */
static void put(struct inode *inode)
{
	struct parting *p;

	if (!inode || atomic_add_unless(&inode->i_count, -1, 1))
		return;
	p = kzalloc(sizeof(*p), GFP_KERNEL | __GFP_NOFAIL);
	p->inode = inode;
	p->sb = inode->i_sb;
	atomic_inc(&p->sb->s_active);
	iot_aside_lend(&p->aside, part, "a worker releases a file of filesystem", p->sb->s_id);
}

/*
 * Should the walk let other tasks run, with a reference to this file? Rather one that others use
 * too: our reference is not the last then. @passed: files since they should have run
 */
static bool should_pause(const struct inode *inode, unsigned int *passed)
{
	if (!need_resched())
		return false;
	if (!atomic_read(&inode->i_count) && ++*passed < MAX_PASSED)
		return false;
	*passed = 0;
	return true;
}

/**
 * iot_inodes_walk() - look at all files of a filesystem that are in memory
 *
 * As in fs/drop_caches.c, the walk keeps its position by a reference to a file when it releases the
 * lock of the list. It does so for each file to visit, and whenever another task wants the CPU.
 * Context: in the function that iot_supers_walk() calls. Return: false if it was stopped.
 */
bool iot_inodes_walk(struct super_block *sb, const struct iot_inodes_ops *ops, void *data)
{
	enum iot_inode_wish wish = IOT_INODE_PASS;
	struct inode *inode, *held = NULL;
	unsigned int passed = 0;

	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		wish = ops->look(inode, data);
		if (wish == IOT_INODE_STOP)
			break;
		if ((wish == IOT_INODE_PASS && !should_pause(inode, &passed)) || !igrab(inode))
			continue;
		spin_unlock(&sb->s_inode_list_lock);
		put(held);
		held = inode;
		if (wish == IOT_INODE_VISIT)
			ops->visit(inode, data);
		cond_resched();
		spin_lock(&sb->s_inode_list_lock);
	}
	spin_unlock(&sb->s_inode_list_lock);
	put(held);
	return wish != IOT_INODE_STOP;
}
