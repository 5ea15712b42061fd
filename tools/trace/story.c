// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "trace/story.h"
#include "uapi/iotracer.h"

const char *const story_relation_names[STORY_RELATIONS] = {
	[IO_UNRELATED] = "", [IO_OWN] = "own", [IO_DATA] = "data", [IO_SYNC] = "sync",
	[STORY_LATER] = "later", [STORY_WRITER] = "writer", [STORY_SUBJECT] = "subject",
};

void story_begin(struct story *s, const struct io_event *subject)
{
	s->explain.top = 1;
	s->subject = *subject;
	explain_offer(&s->explain, subject);
	explain_begin(&s->explain);
}

static bool is_buffered_write(const struct io_event *e)
{
	return e->kind == IO_CALL && e->op == IOT_FS_WRITE;
}

static bool is_same_range(const struct io_event *a, const struct io_event *b)
{
	return io_event_same_file(a, b) && io_ranges_meet(a->offset, a->size, b->offset, b->size);
}

/* --- up ------------------------------------------------------------------------- */

void story_call(struct story *s, const struct io_event *call)
{
	enum io_relation how = io_event_relate(call, &s->subject);

	if (how != IO_UNRELATED && s->nr_calls < STORY_CALLS)
		s->calls[s->nr_calls++] = (struct story_io){ *call, how };
	else if (how != IO_UNRELATED)
		s->more_calls++;
	if (!is_buffered_write(call) || s->subject.op != IOT_BLOCK_WRITE ||
	    s->subject.class == IOT_CLASS_DIRECT || call->begin > s->subject.begin ||
	    !is_same_range(call, &s->subject))
		return;
	if (!s->writer.event.category || call->begin >= s->writer.event.begin)
		s->writer = (struct story_io){ *call, STORY_WRITER };
}

/* --- down ----------------------------------------------------------------------- */

/* Whether a request that does not belong to the call wrote bytes of it that none wrote before. */
static bool writes_later(struct story *s, const struct io_event *request)
{
	const struct io_event *call = &s->subject;
	__u64 end = io_range_end(call->offset, call->size), from, to, before;

	if (!is_buffered_write(call) || request->op != IOT_BLOCK_WRITE ||
	    request->class == IOT_CLASS_DIRECT || request->begin < call->begin ||
	    request->flags & IOT_REQ_EARLY || !is_same_range(call, request))
		return false;
	from = request->offset > call->offset ? request->offset : call->offset;
	to = io_range_end(request->offset, request->size);
	before = spans_length(&s->written);
	spans_add(&s->written, from, to < end ? to : end);
	return spans_length(&s->written) > before;
}

static void add_request(struct story *s, const struct io_event *request, unsigned int how)
{
	if (s->nr_requests < STORY_REQUESTS)
		s->requests[s->nr_requests++] = (struct story_io){ *request, how };
	else
		s->more_requests++;
}

static struct story_neighbour *find_neighbour(struct story *s, const struct io_event *request)
{
	__u32 pid = io_event_owner(request);
	struct story_neighbour *n;
	size_t i;

	for (i = 0; i < s->nr_neighbours; i++)
		if (s->neighbours[i].pid == pid && !memcmp(s->neighbours[i].disk, request->disk, IO_DISK))
			return &s->neighbours[i];
	if (i == STORY_NEIGHBOURS)
		return &s->further;
	n = &s->neighbours[s->nr_neighbours++];
	n->pid = pid;
	memcpy(n->disk, request->disk, IO_DISK);
	memcpy(n->comm, io_event_owner_comm(request), IO_COMM);
	return n;
}

static void add_neighbour(struct story *s, const struct io_event *request)
{
	__u64 begin = request->begin > s->subject.begin ? request->begin : s->subject.begin;
	__u64 end = request->end < s->subject.end ? request->end : s->subject.end;
	struct story_neighbour *n;

	if (request->source != s->subject.source || request->flags & IOT_REQ_EARLY || begin >= end)
		return;
	n = find_neighbour(s, request);
	n->requests++;
	n->bytes += request->size;
	n->overlap += end - begin;
}

static bool is_subject(const struct story *s, const struct io_event *e)
{
	return e->kind == s->subject.kind && e->cpu == s->subject.cpu && e->seq == s->subject.seq;
}

void story_request(struct story *s, const struct io_event *request)
{
	enum io_relation how = IO_UNRELATED;

	if (is_subject(s, request))
		return;
	if (s->subject.kind != IO_REQUEST) {
		how = io_event_relate(&s->subject, request);
		explain_request(&s->explain, request);
	}
	if (how != IO_UNRELATED)
		add_request(s, request, how);
	else if (writes_later(s, request))
		add_request(s, request, STORY_LATER);
	else
		add_neighbour(s, request);
}

static bool is_writeback(unsigned int op)
{
	return op == IOT_CACHE_WRITEBACK_START || op == IOT_CACHE_WRITEBACK_END;
}

/* Whether it is the first writeback of pages of a buffered write, or the end of that. */
static bool is_first_writeback(const struct story *s, const struct iot_cache *page)
{
	const struct story_pages *p = s->pages;

	if (!is_buffered_write(&s->subject) || page->time < s->subject.begin ||
	    !io_ranges_meet(page->index * IO_PAGE, (__u64)page->pages * IO_PAGE, s->subject.offset,
			    s->subject.size))
		return false;
	if (page->op == IOT_CACHE_WRITEBACK_START)
		return !p[IOT_CACHE_WRITEBACK_END].events;
	return p[IOT_CACHE_WRITEBACK_START].events && !p[IOT_CACHE_WRITEBACK_END].events;
}

void story_page(struct story *s, const struct iot_cache *page, const struct source *source)
{
	const struct io_event *e = &s->subject;
	struct story_pages *p;

	explain_cache(&s->explain, page, source);
	if (page->op >= STORY_OPS || source != e->source || !e->inode || page->inode != e->inode ||
	    page->device != e->device)
		return;
	if (is_writeback(page->op) ? !is_first_writeback(s, page) :
	    page->tid != e->tid || page->flags & IOT_CACHE_INTERRUPT || page->time < e->begin ||
	    page->time > e->end)
		return;
	p = &s->pages[page->op];
	if (!p->events++)
		p->first = page->time;
	p->last = page->time;
	p->pages += page->pages;
}

/* --- the end -------------------------------------------------------------------- */

static bool is_on_disk_of(const struct story *s, const struct story_neighbour *n)
{
	size_t i;

	if (s->subject.kind == IO_REQUEST)
		return !memcmp(n->disk, s->subject.disk, IO_DISK);
	for (i = 0; i < s->nr_requests; i++)
		if (!memcmp(n->disk, s->requests[i].event.disk, IO_DISK))
			return true;
	return !s->nr_requests;
}

static int by_overlap(const void *a, const void *b)
{
	const struct story_neighbour *x = a, *y = b;

	if (x->overlap != y->overlap)
		return x->overlap < y->overlap ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void story_finish(struct story *s)
{
	size_t i, nr = 0;

	for (i = 0; i < s->nr_neighbours; i++)
		if (is_on_disk_of(s, &s->neighbours[i]))
			s->neighbours[nr++] = s->neighbours[i];
	s->nr_neighbours = nr;
	qsort(s->neighbours, nr, sizeof(*s->neighbours), by_overlap);
}

void story_free(struct story *s)
{
	explain_free(&s->explain);
	spans_free(&s->written);
}
