// SPDX-License-Identifier: GPL-2.0
/*
 * Symbolic links in /proc/iotracer: a file that a target has come to has its own name there, which
 * leads to the target's directory.
 *
 * A program that reads a link may stop in the middle for ever, as its buffer is memory that it
 * serves itself, and the kernel's removal of the link waits for it. So a worker removes it. It
 * holds the module meanwhile (core/visit.c): unloading, before which all links are removed, is
 * refused as long as one cannot be, rather than wait. There are no more than MAX_ALIASES.
 */
#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "core/visit.h"
#include "proc/entry_link.h"
#include "proc/entry_name.h"
#include "proc/procfile.h"

#define MAX_ALIASES	16384

/**
 * struct iot_entry_link - a link
 * @name:	of it; no other entry of /proc/iotracer gets it
 * @entry:	of it
 * @refs:	held by its file, and by its existence
 * @list:	in the list of links that are not being removed, under @lock
 * @removal:	work that removes it
 */
struct iot_entry_link {
	struct iot_entry_name name;
	struct proc_dir_entry *entry;
	struct kref refs;
	struct list_head list;
	struct work_struct removal;
	struct rcu_head rcu;
};

static DEFINE_SPINLOCK(lock);
static LIST_HEAD(all);
static atomic_t nr;
static struct workqueue_struct *removals;
static struct iot_visited visited;	/* by the worker; never closed */

static void release(struct kref *refs)
{
	struct iot_entry_link *alias = container_of(refs, struct iot_entry_link, refs);

	kfree_rcu(alias, rcu); /* a search for its name may be under way */
}

/* If the module is just being unloaded, the removal of the whole directory does it. */
static void remove_entry(struct work_struct *work)
{
	struct iot_entry_link *alias = container_of(work, struct iot_entry_link, removal);
	struct iot_visit visit;

	if (!iot_visit_begin(&visit, &visited, NULL)) {
		proc_remove(alias->entry);
		iot_visit_end(&visit);
	}
	iot_entry_name_put(&alias->name);
	atomic_dec(&nr);
	kref_put(&alias->refs, release);
}

static void queue_removal(struct iot_entry_link *alias)
{
	bool first;

	spin_lock(&lock);
	first = !list_empty(&alias->list);
	list_del_init(&alias->list);
	spin_unlock(&lock);
	if (first)
		queue_work(removals, &alias->removal);
}

/* Called when the module is to be unloaded. Return: whether there is no link any more. */
static bool remove_all(void)
{
	struct iot_entry_link *alias;

	do {
		spin_lock(&lock);
		alias = list_first_entry_or_null(&all, struct iot_entry_link, list);
		if (alias) {
			list_del_init(&alias->list);
			queue_work(removals, &alias->removal);
		}
		spin_unlock(&lock);
	} while (alias);
	return !atomic_read(&nr);
}

/**
 * iot_entry_link_make() - make a link <s_id>_<inode> to the directory of a target
 * @parent:	/proc/iotracer
 * @to:		name of that directory
 *
 * Context: under the lock of targets. Return: the link, for iot_entry_link_remove(); NULL if the
 * name is taken, or there is no memory or no room.
 */
struct iot_entry_link *iot_entry_link_make(struct proc_dir_entry *parent, const char *to,
					   const struct super_block *sb,
					   unsigned long long ino)
{
	struct iot_entry_link *alias;

	if (atomic_read(&nr) >= MAX_ALIASES)
		return NULL;
	alias = kzalloc(sizeof(*alias), GFP_KERNEL);
	if (!alias)
		return NULL;
	kref_init(&alias->refs);
	INIT_WORK(&alias->removal, remove_entry);
	iot_entry_name_of_file(&alias->name, sb, ino);
	if (iot_entry_name_take(&alias->name))
		goto free_alias;
	alias->entry = iot_procfile_symlink(alias->name.text, parent, to);
	if (!alias->entry)
		goto put_name;
	kref_get(&alias->refs);
	atomic_inc(&nr);
	spin_lock(&lock);
	list_add_tail(&alias->list, &all);
	spin_unlock(&lock);
	return alias;

put_name:
	iot_entry_name_put(&alias->name);
free_alias:
	kref_put(&alias->refs, release);
	return NULL;
}

/** iot_entry_link_remove() - have a link removed; NULL is none. Context: task */
void iot_entry_link_remove(struct iot_entry_link *alias)
{
	if (!alias)
		return;
	queue_removal(alias);
	kref_put(&alias->refs, release);
}

/** iot_entry_link_init() - at load. Return: 0 or -ENOMEM */
int iot_entry_link_init(void)
{
	removals = alloc_workqueue("iotracer_alias", WQ_UNBOUND, 0);
	if (!removals)
		return -ENOMEM;
	iot_visits_before(remove_all);
	return 0;
}

/** iot_entry_link_exit() - wait for the workers. Context: unload, no file of a target is left */
void iot_entry_link_exit(void)
{
	iot_visits_before(NULL);
	destroy_workqueue(removals);
}
