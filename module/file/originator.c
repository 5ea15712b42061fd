// SPDX-License-Identifier: GPL-2.0
/*
 * Which thread made a page dirty. Tracepoint writeback_dirty_folio fires in that thread, once
 * per page until the page is clean again, with preemption off. Category cache also notes which
 * thread had a page read.
 *
 * There are two tables of fixed size, in which newer entries overwrite older ones. The first
 * leads from a page of a file to a thread. An entry is one word: half of the page's hash, the
 * thread's id and a stamp, so a reader never sees a mixture. This table also has an entry for a
 * file as a whole, the last thread that made a page of it dirty, which is looked up if the entry
 * of a page was overwritten. The second table leads from a thread's id to a description of the
 * thread. The stamp distinguishes the thread from later ones with the same id: once one of these
 * was noted, the originator of the earlier thread's pages is unknown.
 *
 * Both tables exist from the first user on until the module is unloaded. While there is no
 * user nothing is noted.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <trace/events/writeback.h>
#include "core/table.h"
#include "core/task.h"
#include "core/tryseq.h"
#include "hook/hook.h"
#include "hook/point.h"
#include "file/originator.h"

#define PAGE_BITS	18
#define TASK_BITS	10
#define TASK_PLACES	4	/* slots for threads with the same hash */
#define TID_BITS	22
#define STAMP_BITS	(32 - TID_BITS)

static_assert(BIT(TID_BITS) >= PID_MAX_LIMIT);

struct originator_task {
	u32 seq;	/* see core/tryseq.h */
	struct iot_originator who;
};

#define NAME_WORDS	(sizeof_field(struct iot_originator, comm) / sizeof(u64))

static u64 *pages;
static struct originator_task (*tasks)[TASK_PLACES];
static bool ready;	/* the tables are allocated */

/*
 * The key of a page: its upper bits select a slot and its lower half is stored in it. The hash
 * is keyed, so nobody can choose pages for which both are the same.
 */
static u64 key_of(const struct address_space *mapping, unsigned long index)
{
	return iot_table_pair((unsigned long)mapping, index);
}

/* The key of a file as a whole. It does not depend on the keys of the file's pages. */
static u64 file_key_of(const struct address_space *mapping)
{
	return iot_table_pair(1, (unsigned long)mapping);
}

static u64 *page_place(u64 key)
{
	return &pages[key >> (64 - PAGE_BITS)];
}

/* Of the slots where thread @tid may be, find the one that now has the id @known, or NULL. */
static struct originator_task *find_task(u32 tid, u32 known)
{
	struct originator_task *t = tasks[iot_table_hash(tid, TASK_BITS)];
	unsigned int i;

	for (i = 0; i < TASK_PLACES; i++, t++)
		if (READ_ONCE(t->who.tid) == known)
			return t;
	return NULL;
}

/* Get a slot for a thread that has none: a free one, or else the slots of others in turn. */
static struct originator_task *new_task(u32 tid)
{
	static atomic_t turn;
	struct originator_task *t = find_task(tid, 0);
	unsigned int i;

	if (t)
		return t;
	i = (unsigned int)atomic_inc_return_relaxed(&turn);
	return &tasks[iot_table_hash(tid, TASK_BITS)][i % TASK_PLACES];
}

static bool is_same(const struct iot_originator *a, const struct iot_originator *b)
{
	const u64 *name = (const u64 *)a->comm, *other = (const u64 *)b->comm;

	return READ_ONCE(a->pid) == b->pid && READ_ONCE(a->uid) == b->uid &&
	       READ_ONCE(a->stamp) == b->stamp && READ_ONCE(a->cgroup) == b->cgroup &&
	       READ_ONCE(name[0]) == other[0] && READ_ONCE(name[1]) == other[1];
}

static_assert(NAME_WORDS == 2);

/* Other CPUs may read @to, or write @from, at the same time. */
static void copy(struct iot_originator *to, const struct iot_originator *from)
{
	const u64 *name = (const u64 *)from->comm;
	u64 *new = (u64 *)to->comm;
	unsigned int i;

	WRITE_ONCE(to->tid, READ_ONCE(from->tid));
	WRITE_ONCE(to->pid, READ_ONCE(from->pid));
	WRITE_ONCE(to->uid, READ_ONCE(from->uid));
	WRITE_ONCE(to->stamp, READ_ONCE(from->stamp));
	WRITE_ONCE(to->cgroup, READ_ONCE(from->cgroup));
	for (i = 0; i < NAME_WORDS; i++)
		WRITE_ONCE(new[i], READ_ONCE(name[i]));
}

/* Give up if the slot is being changed on another CPU. */
static void describe(struct originator_task *t, const struct iot_originator *who)
{
	if (!iot_tryseq_begin(&t->seq))
		return;
	copy(&t->who, who);
	iot_tryseq_end(&t->seq);
}

/* A thread in one word: its id, never 0, and its stamp. */
static u32 word_of(u32 tid, u32 stamp)
{
	return stamp << TID_BITS | tid;
}

/** iot_originator_stamp() - get what tells a thread from others that had its id. Context: any */
u32 iot_originator_stamp(const struct task_struct *task)
{
	return hash_64(task->start_time, STAMP_BITS);
}

/* Note the current thread. Preemption is off. Return: its word. */
static u32 note_task(void)
{
	struct task_struct *task = current;
	struct iot_originator who = {
		.stamp = iot_originator_stamp(task),
		.uid = __kuid_val(rcu_dereference_sched(task->cred)->euid),
		.cgroup = iot_task_cgroup(task),
	};
	struct originator_task *t = find_task(task->pid, task->pid);

	iot_task_ids(&who, task);
	if (!t || !is_same(&t->who, &who))
		describe(t ?: new_task(who.tid), &who);
	return word_of(who.tid, who.stamp);
}

static void note(u64 key, u32 thread)
{
	WRITE_ONCE(*page_place(key), key << 32 | thread);
}

static void folio_dirtied(void *data, struct folio *folio, struct address_space *mapping)
{
	IOT_POINT_ENTER();
	u32 thread;

	if (!in_task() || !mapping)
		return;
	thread = note_task();
	note(key_of(mapping, folio->index), thread);
	note(file_key_of(mapping), thread);
}

/**
 * iot_originator_read() - note that the current thread has pages read into memory
 * @index:	of the first page
 *
 * Context: task, preemption off; between iot_originator_get() and iot_originator_put().
 */
void iot_originator_read(const struct address_space *mapping, unsigned long index,
			 unsigned long pages)
{
	u32 thread = note_task();
	unsigned long i;

	for (i = 0; i < pages; i++)
		note(key_of(mapping, index + i), thread);
}

/* Get the word of the thread that is noted for a page or file, or 0. */
static u32 thread_of(u64 key)
{
	u64 word = READ_ONCE(*page_place(key));

	return word >> 32 == (u32)key ? (u32)word : 0;
}

static atomic_long_t nr_by_file, nr_unattributed;

/* Do iot_originator_peek(). @by_file: set to whether the page itself has no entry */
static bool look_up(const struct address_space *mapping, unsigned long index,
		    struct iot_originator *who, bool *by_file)
{
	const struct originator_task *t;
	u32 thread, tid, seq;

	if (!smp_load_acquire(&ready)) /* check before reading the tables */
		goto unknown;
	thread = thread_of(key_of(mapping, index));
	*by_file = !thread;
	if (!thread)
		thread = thread_of(file_key_of(mapping));
	tid = thread & (BIT(TID_BITS) - 1);
	t = tid ? find_task(tid, tid) : NULL;
	if (!t)
		goto unknown;
	seq = iot_tryseq_read(&t->seq);
	copy(who, &t->who);
	if (iot_tryseq_is_whole(&t->seq, seq) && word_of(who->tid, who->stamp) == thread)
		return true;
unknown:
	memset(who, 0, sizeof(*who));
	return false;
}

/**
 * iot_originator_peek() - find the thread that last changed a page or had it read
 * @index:	of the page
 * @who:	filled in; zeroes if the thread is not known
 *
 * If the page has no entry, this is the thread that last changed the file.
 * Context: any. Return: whether the thread is known.
 */
bool iot_originator_peek(const struct address_space *mapping, unsigned long index,
			 struct iot_originator *who)
{
	bool by_file;

	return look_up(mapping, index, who, &by_file);
}

/** iot_originator_find() - do iot_originator_peek(), and count if the page itself has no entry */
bool iot_originator_find(const struct address_space *mapping, unsigned long index,
			 struct iot_originator *who)
{
	bool by_file;

	if (!look_up(mapping, index, who, &by_file))
		return false;
	if (unlikely(by_file))
		atomic_long_inc(&nr_by_file);
	return true;
}

/** iot_originator_by_file() - get how often only the file, not the page, had an entry */
unsigned long iot_originator_by_file(void)
{
	return atomic_long_read(&nr_by_file);
}

/** iot_originator_is_kernel() - is it a thread of the kernel that has not exited? Context: any */
bool iot_originator_is_kernel(const struct iot_originator *who)
{
	const struct task_struct *task;
	bool is;

	rcu_read_lock();
	task = pid_task(find_pid_ns(who->tid, &init_pid_ns), PIDTYPE_PID);
	is = task && (task->flags & PF_KTHREAD);
	rcu_read_unlock();
	return is;
}

/**
 * iot_originator_count_unattributed() - count an event that may be for a wanted task
 *
 * The filter has a condition on tasks, and which task caused the event is not known. Context: any.
 */
void iot_originator_count_unattributed(void)
{
	atomic_long_inc(&nr_unattributed);
}

/** iot_originator_unattributed() - get how many of them there were */
unsigned long iot_originator_unattributed(void)
{
	return atomic_long_read(&nr_unattributed);
}

static struct iot_point point = {
	.name = "writeback_dirty_folio",
	.probe = folio_dirtied,
};

static DEFINE_MUTEX(users_lock);
static unsigned int users;

/* Clear the tables; allocate them the first time. */
static int make_tables(void)
{
	if (!pages)
		pages = vmalloc(BIT(PAGE_BITS) * sizeof(*pages));
	if (!tasks)
		tasks = vmalloc(BIT(TASK_BITS) * sizeof(*tasks));
	if (!pages || !tasks)
		return -ENOMEM;
	memset(pages, 0, BIT(PAGE_BITS) * sizeof(*pages));
	memset(tasks, 0, BIT(TASK_BITS) * sizeof(*tasks));
	smp_store_release(&ready, true); /* the tables are complete */
	return 0;
}

static int begin(void)
{
	int err;

	check_trace_callback_type_writeback_dirty_folio(folio_dirtied);
	iot_points_wait(); /* probes of the previous user may still run */
	err = make_tables();
	return err ?: iot_point_get(&point);
}

/** iot_originator_get() - add a user; the first one starts noting. Context: task, may sleep */
int iot_originator_get(void)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!users)
		err = begin();
	if (!err)
		users++;
	mutex_unlock(&users_lock);
	return err;
}

/** iot_originator_put() - remove a user; the last one stops noting */
void iot_originator_put(void)
{
	mutex_lock(&users_lock);
	if (!--users)
		iot_point_put(&point);
	mutex_unlock(&users_lock);
}

/** iot_originator_exit() - free the tables at unload, when no probe is left */
void iot_originator_exit(void)
{
	vfree(pages);
	vfree(tasks);
	pages = NULL;
	tasks = NULL;
}
