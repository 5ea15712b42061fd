// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/explain.h"
#include "uapi/iotracer.h"

/* --- the slowest ---------------------------------------------------------------- */

static int compare(__u64 a, __u64 b)
{
	return a < b ? -1 : a > b;
}

/* By time; of events that begin together, in the order of their categories, CPUs and seqs. */
static int by_begin(const void *a, const void *b)
{
	const struct io_event *x = &((const struct explained *)a)->event;
	const struct io_event *y = &((const struct explained *)b)->event;
	int order = compare(x->begin, y->begin);

	if (!order)
		order = compare(x->kind, y->kind);
	if (!order)
		order = compare(x->cpu, y->cpu);
	return order ? order : compare(x->seq, y->seq);
}

static int by_latency(const void *a, const void *b)
{
	const struct explained *x = a, *y = b;
	int order = compare(io_event_latency(&y->event), io_event_latency(&x->event));

	return order ? order : by_begin(a, b);
}

/* While events are offered, @at is a heap, whose root is the one to give up first. */
static void sift_down(struct explain *x)
{
	struct explained moved = x->at[0];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < x->nr) {
		if (child + 1 < x->nr && by_latency(&x->at[child + 1], &x->at[child]) > 0)
			child++;
		if (by_latency(&x->at[child], &moved) <= 0)
			break;
		x->at[i] = x->at[child];
		i = child;
	}
	x->at[i] = moved;
}

static void push(struct explain *x, const struct explained *new)
{
	size_t i = x->nr++, parent;

	if (i == x->room) {
		x->room = x->room ? 2 * x->room : 16;
		x->at = xreallocarray(x->at, x->room, sizeof(*x->at));
	}
	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (by_latency(new, &x->at[parent]) <= 0)
			break;
		x->at[i] = x->at[parent];
	}
	x->at[i] = *new;
}

void explain_offer(struct explain *x, const struct io_event *e)
{
	const struct explained new = { .event = *e };

	if (x->nr < x->top) {
		push(x, &new);
	} else if (by_latency(&new, &x->at[0]) < 0) {
		x->at[0] = new;
		sift_down(x);
	}
}

/* --- where their time went ------------------------------------------------------ */

void explain_begin(struct explain *x)
{
	if (x->nr)
		qsort(x->at, x->nr, sizeof(*x->at), by_begin);
	if (!x->running)
		x->running = xreallocarray(NULL, x->nr, sizeof(struct explained *));
	x->next = 0;
	x->nr_running = 0;
}

/* Which calls and faults were running at a time: later times follow. */
static void run_until(struct explain *x, __u64 time)
{
	size_t i, nr = 0;

	for (; x->next < x->nr && x->at[x->next].event.begin <= time; x->next++)
		if (x->at[x->next].event.kind != IO_REQUEST)
			x->running[x->nr_running++] = &x->at[x->next];
	for (i = 0; i < x->nr_running; i++)
		if (x->running[i]->event.end >= time)
			x->running[nr++] = x->running[i];
	x->nr_running = nr;
}

static void add_request(struct explained *e, const struct io_event *request, enum io_relation how)
{
	__u64 begin = e->event.begin, issued = io_event_issued(request);

	e->requests++;
	e->related[how]++;
	e->bytes += request->size;
	spans_add(&e->requested, request->begin > begin ? request->begin : begin, request->end);
	spans_add(&e->in_device, issued > begin ? issued : begin, request->end);
}

void explain_request(struct explain *x, const struct io_event *request)
{
	size_t i;

	run_until(x, request->end);
	for (i = 0; i < x->nr_running; i++) {
		enum io_relation how = io_event_relate(&x->running[i]->event, request);

		if (how != IO_UNRELATED)
			add_request(x->running[i], request, how);
	}
}

static void add_pages(struct explain_pages *p, const struct iot_cache *c)
{
	switch (c->op) {
	case IOT_CACHE_HIT:
		if (c->flags & IOT_CACHE_WAIT)
			p->waited += c->pages;
		else
			p->hit += c->pages;
		break;
	case IOT_CACHE_MISS:
		p->missed += c->pages;
		break;
	case IOT_CACHE_DIRTY:
		p->dirtied += c->pages;
		break;
	case IOT_CACHE_READAHEAD:
		p->read_ahead += c->pages;
		break;
	}
}

void explain_cache(struct explain *x, const struct iot_cache *c, const struct source *source)
{
	size_t i;

	run_until(x, c->time);
	for (i = 0; i < x->nr_running; i++) {
		struct explained *e = x->running[i];

		if (c->tid != e->event.tid || source != e->event.source || !c->inode ||
		    c->inode != e->event.inode || c->device != e->event.device ||
		    c->time < e->event.begin || c->flags & IOT_CACHE_INTERRUPT)
			continue;
		if (!e->has_pages || c->time < e->pages_begin)
			e->pages_begin = c->time;
		if (!e->has_pages || c->time > e->pages_end)
			e->pages_end = c->time;
		e->has_pages = true;
		add_pages(&e->pages, c);
	}
}

void explain_finish(struct explain *x)
{
	if (x->nr)
		qsort(x->at, x->nr, sizeof(*x->at), by_latency);
}

void explain_parts_of(const struct explained *e, struct explain_parts *parts)
{
	__u64 latency = io_event_latency(&e->event);

	if (e->event.kind == IO_REQUEST) {
		*parts = (struct explain_parts){
			.device = e->event.in_device, .queue = e->event.queue,
			.other = latency - e->event.in_device - e->event.queue,
		};
		return;
	}
	*parts = (struct explain_parts){ .device = spans_length(&e->in_device) };
	parts->queue = spans_length(&e->requested) - parts->device;
	if (e->has_pages)
		parts->cache = e->pages_end - e->pages_begin -
			       spans_overlap(&e->requested, e->pages_begin, e->pages_end);
	parts->other = latency - parts->device - parts->queue - parts->cache;
}

void explain_free(struct explain *x)
{
	size_t i;

	for (i = 0; i < x->nr; i++) {
		spans_free(&x->at[i].requested);
		spans_free(&x->at[i].in_device);
	}
	free(x->at);
	free(x->running);
}
