// SPDX-License-Identifier: GPL-2.0
/*
 * Who made a page dirty: tracepoint writeback_dirty_folio, which fires in the task
 * that does, once a page until it is clean again; preemption is off.
 *
 * Two tables, both of fixed size and both overwritten by what comes later. One has
 * for a page of a file the thread, as one word: half of the page's hash and the
 * thread's id, so that a reader never sees a mixture; and likewise for a file as a
 * whole, which is looked up for a page that was overwritten. The other has names by
 * thread id.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <trace/events/writeback.h>
#include "hook.h"
#include "origin.h"
#include "table.h"

#define PAGE_BITS	18
#define TASK_BITS	10
#define TASK_PLACES	4	/* of threads with the same hash */

/* An even version: complete. */
struct origin_task {
	u32 version;
	u32 tid;
	u32 pid;
	u64 comm[2];
};

static u64 *pages;
static struct origin_task (*tasks)[TASK_PLACES];

/* All its bits count. Nobody can choose pages that have another one's place and half. */
static u64 key_of(const struct address_space *mapping, unsigned long index)
{
	return iot_table_pair((unsigned long)mapping, index);
}

static u64 *page_place(u64 key)
{
	return &pages[key >> (64 - PAGE_BITS)];
}

/* Of the places of a thread the one that has the id @known, or NULL. */
static struct origin_task *find_task(u32 tid, u32 known)
{
	struct origin_task *t = tasks[iot_table_hash(tid, TASK_BITS)];
	unsigned int i;

	for (i = 0; i < TASK_PLACES; i++, t++)
		if (READ_ONCE(t->tid) == known)
			return t;
	return NULL;
}

/* One for a thread that has none: free, or by turns another's. */
static struct origin_task *new_task(u32 tid)
{
	static atomic_t turn;
	struct origin_task *t = find_task(tid, 0);
	unsigned int i;

	if (t)
		return t;
	i = (unsigned int)atomic_inc_return_relaxed(&turn);
	return &tasks[iot_table_hash(tid, TASK_BITS)][i % TASK_PLACES];
}

static void note_task(void)
{
	struct origin_task *t = find_task(current->pid, current->pid);
	const u64 *comm = (const u64 *)current->comm;
	u32 version;

	if (t && READ_ONCE(t->pid) == current->tgid &&
	    READ_ONCE(t->comm[0]) == comm[0] && READ_ONCE(t->comm[1]) == comm[1])
		return;
	if (!t)
		t = new_task(current->pid);
	version = READ_ONCE(t->version);
	if ((version & 1) || cmpxchg(&t->version, version, version + 1) != version)
		return;
	WRITE_ONCE(t->tid, current->pid);
	WRITE_ONCE(t->pid, current->tgid);
	WRITE_ONCE(t->comm[0], comm[0]);
	WRITE_ONCE(t->comm[1], comm[1]);
	smp_store_release(&t->version, version + 2); /* after the fields */
}

#define WHOLE_FILE	(~0UL - 1)

static void note(const struct address_space *mapping, unsigned long index)
{
	u64 key = key_of(mapping, index);

	WRITE_ONCE(*page_place(key), key << 32 | (u32)current->pid);
}

static void folio_dirtied(void *data, struct folio *folio, struct address_space *mapping)
{
	if (!in_task() || !mapping)
		return;
	note(mapping, folio->index);
	note(mapping, WHOLE_FILE);
	note_task();
}

static u32 tid_of(const struct address_space *mapping, unsigned long index)
{
	u64 key = key_of(mapping, index);
	u64 word = READ_ONCE(*page_place(key));

	return word >> 32 == (u32)key ? (u32)word : 0;
}

/**
 * iot_origin_find() - the process that last made this page, or else this file, dirty
 * @index:	of the page
 * @comm:	filled with its thread's name, zeroes where it is not known
 *
 * Context: any. Return: its pid in the initial namespace, 0 if it is not known.
 */
u32 iot_origin_find(const struct address_space *mapping, unsigned long index,
		    char comm[16])
{
	u32 tid = tid_of(mapping, index) ?: tid_of(mapping, WHOLE_FILE);
	const struct origin_task *t = tid ? find_task(tid, tid) : NULL;
	u32 version, pid, known;
	u64 name[2];

	if (!t)
		goto unknown;
	version = smp_load_acquire(&t->version); /* before the copy */
	name[0] = READ_ONCE(t->comm[0]);
	name[1] = READ_ONCE(t->comm[1]);
	pid = READ_ONCE(t->pid);
	known = READ_ONCE(t->tid);
	smp_rmb(); /* the copy before the second look */
	if (known != tid || (version & 1) || READ_ONCE(t->version) != version)
		goto unknown;
	memcpy(comm, name, 16);
	return pid;
unknown:
	memset(comm, 0, 16);
	return 0;
}

static struct iot_hook_point point = {
	.name = "writeback_dirty_folio",
	.probe = folio_dirtied,
};

/** iot_origin_attach() - begin to note. Context: task, may sleep */
int iot_origin_attach(void)
{
	check_trace_callback_type_writeback_dirty_folio(folio_dirtied);
	return iot_hook_point_get(&point);
}

void iot_origin_detach(void)
{
	iot_hook_point_put(&point);
}

/**
 * iot_origin_init() - get memory, once, and forget who wrote before
 *
 * Context: may sleep; no probe is left of the last time. Return: 0 or -ENOMEM.
 */
int iot_origin_init(void)
{
	if (!pages)
		pages = vmalloc(BIT(PAGE_BITS) * sizeof(*pages));
	if (!tasks)
		tasks = vmalloc(BIT(TASK_BITS) * sizeof(*tasks));
	if (!pages || !tasks)
		return -ENOMEM;
	memset(pages, 0, BIT(PAGE_BITS) * sizeof(*pages));
	memset(tasks, 0, BIT(TASK_BITS) * sizeof(*tasks));
	return 0;
}

/** iot_origin_exit() - at unload, when no probe is left */
void iot_origin_exit(void)
{
	vfree(pages);
	vfree(tasks);
	pages = NULL;
	tasks = NULL;
}
