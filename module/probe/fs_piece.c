// SPDX-License-Identifier: GPL-2.0
/*
 * Calls with one event for each mapping or descriptor that they affect.
 *
 * All events of such a call have its time, latency and result. What differs between them
 * is kept from before the call until after it. The first event is the frame's own; the
 * others are in pages, as many as are needed. The program chooses how many mappings or
 * descriptors a call affects. Three things bound the memory:
 *
 *   - it is charged to the memory cgroup of the calling task, and never invokes the OOM killer;
 *   - it counts against ring_memory_limit, of which all calls together take an eighth at most;
 *   - a kretprobe's handler, which runs with preemption off, takes one page a call at most.
 *
 * An event for which there is no memory counts as missed.
 *
 * Contexts: task. The pages belong to the frame, and are freed after the call, or when the call
 * is found not to be wanted.
 */
#include "compat/config.h"
#ifndef IOT_WITHOUT_FS_CALLS /* left_out.h */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "core/budget.h"
#include "core/param.h"
#include "probe/fs_frame.h"

/* What differs between the events of a call. */
struct piece {
	u64 path;
	u64 inode;
	u64 address;
	u64 offset;
	u64 requested;
	u32 device;
	u32 flags;
	u32 flags2;
	s32 fd;
	u16 kind;
};

/**
 * struct iot_pieces - one page of pieces
 * @next:	next page, NULL for the last one
 */
struct iot_pieces {
	struct iot_pieces *next;
	u32 nr;
	struct piece piece[];
};

#define PIECES_A_PAGE	((PAGE_SIZE - sizeof(struct iot_pieces)) / sizeof(struct piece))

/* Bytes that all calls in progress hold. */
static atomic_long_t held;

static bool take_budget(void)
{
	if (atomic_long_add_return(PAGE_SIZE, &held) <= iot_param_ring_memory_limit() / 8 &&
	    iot_budget_try(PAGE_SIZE))
		return true;
	atomic_long_sub(PAGE_SIZE, &held);
	return false;
}

static void give_budget(void)
{
	iot_budget_give(PAGE_SIZE);
	atomic_long_sub(PAGE_SIZE, &held);
}

static struct iot_pieces *page_new(const struct iot_frame *f)
{
	gfp_t gfp = f->may_sleep ? GFP_KERNEL_ACCOUNT | __GFP_NORETRY : GFP_NOWAIT;
	struct iot_pieces *page;

	if (!f->may_sleep && f->pieces)
		return NULL;
	if (!take_budget())
		return NULL;
	page = (struct iot_pieces *)__get_free_page(gfp | __GFP_NOWARN);
	if (!page) {
		give_budget();
		return NULL;
	}
	page->next = NULL;
	page->nr = 0;
	return page;
}

static struct piece *piece_new(struct iot_frame *f)
{
	struct iot_pieces *page = f->last_piece;

	if (!page || page->nr == PIECES_A_PAGE) {
		page = page_new(f);
		if (!page)
			return NULL;
		if (f->last_piece)
			f->last_piece->next = page;
		else
			f->pieces = page;
		f->last_piece = page;
	}
	return &page->piece[page->nr++];
}

/**
 * iot_piece_add() - add an event to a call, besides the first, which is in the frame
 * @e:	the event, with what is known before the call
 *
 * Context: task. The event counts as missed if there is no memory for it.
 */
void iot_piece_add(struct iot_frame *f, const struct iot_fs *e)
{
	struct piece *p = piece_new(f);

	if (!p) {
		iot_fs_count_missed();
		return;
	}
	*p = (struct piece){
		.path = e->path,
		.inode = e->inode,
		.address = e->address,
		.offset = e->offset,
		.requested = e->requested,
		.device = e->device,
		.flags = e->flags,
		.flags2 = e->flags2,
		.fd = e->fd,
		.kind = e->kind,
	};
}

static void record(struct iot_fs *e, const struct piece *p, s64 result, u64 now)
{
	e->path = p->path;
	e->inode = p->inode;
	e->address = p->address;
	e->offset = p->offset;
	e->requested = p->requested;
	e->device = p->device;
	e->flags = p->flags;
	e->flags2 = p->flags2;
	e->fd = p->fd;
	e->kind = p->kind;
	iot_fs_end_at(e, result, now);
}

/** iot_pieces_end() - record all events of a call that has just ended with @result */
void iot_pieces_end(struct iot_frame *f, s64 result)
{
	iot_pieces_end_at(f, result, ktime_get_mono_fast_ns());
}

/** iot_pieces_end_at() - as above, for a call that ended at @now, CLOCK_MONOTONIC ns */
void iot_pieces_end_at(struct iot_frame *f, s64 result, u64 now)
{
	const struct iot_pieces *page;
	u32 i;

	iot_fs_end_at(&f->e, result, now);
	for (page = f->pieces; page; page = page->next) {
		for (i = 0; i < page->nr; i++)
			record(&f->e, &page->piece[i], result, now);
		if (f->may_sleep)
			cond_resched();
	}
}

/** iot_pieces_free() - free the pages of a frame. Context: any */
void iot_pieces_free(struct iot_frame *f)
{
	struct iot_pieces *page = f->pieces, *next;

	for (; page; page = next) {
		next = page->next;
		free_page((unsigned long)page);
		give_budget();
	}
	f->pieces = NULL;
	f->last_piece = NULL;
}

#endif /* IOT_WITHOUT_FS_CALLS */
