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
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <trace/events/writeback.h>
#include "hook.h"
#include "origin.h"

#define PAGE_BITS	18
#define TASK_BITS	12

/* An even version: complete. */
struct origin_task {
	u32 version;
	u32 tid;
	u32 pid;
	u64 comm[2];
};

static u64 *pages;
static struct origin_task *tasks;

static u64 key_of(const struct address_space *mapping, unsigned long index)
{
	return hash_64((u64)(unsigned long)mapping ^ hash_64(index + 1, 64), 64);
}

static u64 *page_place(u64 key)
{
	return &pages[key >> (64 - PAGE_BITS)];
}

static void note_task(void)
{
	struct origin_task *t = &tasks[hash_32(current->pid, TASK_BITS)];
	const u64 *comm = (const u64 *)current->comm;
	u32 version = READ_ONCE(t->version);

	if (READ_ONCE(t->tid) == current->pid && READ_ONCE(t->pid) == current->tgid &&
	    READ_ONCE(t->comm[0]) == comm[0] && READ_ONCE(t->comm[1]) == comm[1])
		return;
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
	const struct origin_task *t = &tasks[hash_32(tid, TASK_BITS)];
	u32 version = smp_load_acquire(&t->version); /* before the copy */
	u64 name[2] = { READ_ONCE(t->comm[0]), READ_ONCE(t->comm[1]) };
	u32 pid = READ_ONCE(t->pid), known = READ_ONCE(t->tid);

	smp_rmb(); /* the copy before the second look */
	if (!tid || known != tid || (version & 1) || READ_ONCE(t->version) != version) {
		memset(comm, 0, 16);
		return 0;
	}
	memcpy(comm, name, 16);
	return pid;
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

/** iot_origin_init() - get memory, once. Return: 0 or -ENOMEM. Context: may sleep */
int iot_origin_init(void)
{
	if (!pages)
		pages = vzalloc(BIT(PAGE_BITS) * sizeof(*pages));
	if (!tasks)
		tasks = vzalloc(BIT(TASK_BITS) * sizeof(*tasks));
	return pages && tasks ? 0 : -ENOMEM;
}

/** iot_origin_exit() - at unload, when no probe is left */
void iot_origin_exit(void)
{
	vfree(pages);
	vfree(tasks);
	pages = NULL;
	tasks = NULL;
}
