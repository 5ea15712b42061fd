// SPDX-License-Identifier: GPL-2.0
/*
 * Symbolic links in /proc/iotracer: a file to which a target was switched has its own name there,
 * which leads to the target's directory.
 *
 * A program that reads a link may block indefinitely, because its buffer is memory that it provides
 * itself, and the kernel's removal of the link waits for it. So a worker removes the link. It holds
 * the module meanwhile (core/visit.c): all links are removed before unloading, which is refused,
 * rather than delayed, while one cannot be removed. If unloading is refused, for this or another
 * reason, the links are created again. Until then their names stay taken.
 *
 * A link is in one of two lists, of links that are shown and of links to be created again, or
 * belongs to a worker. There are at most LINKS_MAX.
 */
#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "core/visit.h"
#include "proc/entry_link.h"
#include "proc/entry_name.h"
#include "proc/procfile.h"

#define LINKS_MAX	16384
#define READERS		"a process is inside a readlink of a symbolic link in /proc/iotracer"

/**
 * struct iot_entry_link - a link
 * @name:	of it; no other entry of /proc/iotracer gets it
 * @to:		name of the directory that it leads to
 * @parent:	/proc/iotracer
 * @entry:	of it, NULL while there is none
 * @refs:	held by its file, and by its existence
 * @list:	in @shown or @hidden, under @lock; empty while a worker has it
 * @owned:	its file has it, under @lock
 * @removal:	work that removes it
 */
struct iot_entry_link {
	struct iot_entry_name name;
	char to[IOT_NAME_LEN];
	struct proc_dir_entry *parent;
	struct proc_dir_entry *entry;
	struct kref refs;
	struct list_head list;
	bool owned;
	struct work_struct removal;
	struct rcu_head rcu;
};

static DEFINE_SPINLOCK(lock);	/* protects what follows */
static LIST_HEAD(shown);
static LIST_HEAD(hidden);
static bool leaving;		/* the module may be unloaded: no link is shown */

static atomic_t nr;
static atomic_t nr_entries;	/* links that are shown, or that a worker has */
static struct workqueue_struct *removals;

static void release(struct kref *refs)
{
	struct iot_entry_link *link = container_of(refs, struct iot_entry_link, refs);

	kfree_rcu(link, rcu); /* a search for its name may be under way */
}

/* End the existence of a link that has no entry and is in no list. */
static void end(struct iot_entry_link *link)
{
	iot_entry_name_put(&link->name);
	atomic_dec(&nr);
	kref_put(&link->refs, release);
}

/* Take a link that is shown off its list, and have its entry removed. Context: @lock is held. */
static void queue_removal(struct iot_entry_link *link)
{
	list_del_init(&link->list);
	queue_work(removals, &link->removal);
}

/* Show a link that is in no list. Return: false if there is no memory. */
static bool show(struct iot_entry_link *link)
{
	link->entry = iot_procfile_symlink(link->name.text, link->parent, link->to);
	if (!link->entry)
		return false;
	spin_lock(&lock);
	list_add_tail(&link->list, &shown);
	if (leaving || !link->owned)
		queue_removal(link);
	spin_unlock(&lock);
	return true;
}

/* Hide a link that is in no list, if it may have to be shown again, but not now. */
static bool hide(struct iot_entry_link *link)
{
	bool hides;

	spin_lock(&lock);
	hides = leaving && link->owned;
	if (hides)
		list_add_tail(&link->list, &hidden);
	spin_unlock(&lock);
	return hides;
}

static bool is_owned(struct iot_entry_link *link)
{
	bool owned;

	spin_lock(&lock);
	owned = link->owned;
	spin_unlock(&lock);
	return owned;
}

/* If the module is just being unloaded, the removal of the whole directory does it. */
static void remove_entry(struct work_struct *work)
{
	struct iot_entry_link *link = container_of(work, struct iot_entry_link, removal);
	struct iot_visit visit;

	if (!iot_visit_begin_worker(&visit, READERS, NULL)) {
		proc_remove(link->entry);
		iot_visit_end(&visit);
	}
	link->entry = NULL;
	if (!hide(link)) {
		if (is_owned(link) && show(link)) /* unloading was refused meanwhile */
			return;
		end(link);
	}
	atomic_dec(&nr_entries);
}

/* Called when the module is to be unloaded. Return: whether there is no link any more. */
static bool hide_all(void)
{
	struct iot_entry_link *link;

	spin_lock(&lock);
	leaving = true;
	spin_unlock(&lock);
	do {
		spin_lock(&lock);
		link = list_first_entry_or_null(&shown, struct iot_entry_link, list);
		if (link)
			queue_removal(link);
		spin_unlock(&lock);
	} while (link);
	return !atomic_read(&nr_entries);
}

/* Called when unloading was refused. Context: task. */
static void show_all(void)
{
	struct iot_entry_link *link;

	spin_lock(&lock);
	leaving = false;
	spin_unlock(&lock);
	do {
		spin_lock(&lock);
		link = list_first_entry_or_null(&hidden, struct iot_entry_link, list);
		if (link)
			list_del_init(&link->list);
		spin_unlock(&lock);
		if (!link)
			break;
		atomic_inc(&nr_entries);
		if (!show(link)) {
			end(link);
			atomic_dec(&nr_entries);
		}
	} while (link);
}

static const struct iot_visits_ops visits_ops = {
	.stop = hide_all,
	.go_on = show_all,
};

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
	struct iot_entry_link *link;

	if (atomic_read(&nr) >= LINKS_MAX)
		return NULL;
	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return NULL;
	kref_init(&link->refs);
	INIT_LIST_HEAD(&link->list);
	INIT_WORK(&link->removal, remove_entry);
	link->parent = parent;
	strscpy(link->to, to, sizeof(link->to));
	link->owned = true;
	iot_entry_name_of_file(&link->name, sb, ino);
	if (iot_entry_name_take(&link->name)) {
		kref_put(&link->refs, release);
		return NULL;
	}
	atomic_inc(&nr);
	kref_get(&link->refs);
	if (hide(link))
		return link;
	atomic_inc(&nr_entries);
	if (show(link))
		return link;
	atomic_dec(&nr_entries);
	end(link);
	kref_put(&link->refs, release);
	return NULL;
}

/** iot_entry_link_remove() - have a link removed; NULL is none. Context: task */
void iot_entry_link_remove(struct iot_entry_link *link)
{
	bool is_hidden;

	if (!link)
		return;
	spin_lock(&lock);
	link->owned = false;
	is_hidden = !list_empty(&link->list) && !link->entry;
	if (is_hidden)
		list_del_init(&link->list);
	else if (!list_empty(&link->list))
		queue_removal(link);
	spin_unlock(&lock);
	if (is_hidden)
		end(link);
	kref_put(&link->refs, release);
}

/** iot_entry_link_init() - at load. Return: 0 or -ENOMEM */
int iot_entry_link_init(void)
{
	removals = alloc_workqueue("iotracer_alias", WQ_UNBOUND, 0);
	if (!removals)
		return -ENOMEM;
	iot_visits_bind(&visits_ops);
	return 0;
}

/** iot_entry_link_exit() - wait for the workers. Context: unload, no file of a target is left */
void iot_entry_link_exit(void)
{
	iot_visits_bind(NULL);
	destroy_workqueue(removals);
}
