// SPDX-License-Identifier: GPL-2.0
#include "trace/durable_flush.h"
#include "trace/durable_range.h"

const char *const durable_state_names[DURABLE_STATES] = {
	"memory", "writeback", "cache", "unproven", "unknown", "durable",
};

const char *const durable_name_names[] = { "old", "new", "moved", "removed" };

/* Tells ranges of one tree that are in none of the others. */
struct listing {
	const struct durable *d;
	const struct durable_file *f;
	void (*each)(const struct durable_range *r, void *data);
	void *data;
	const struct extents *less[2];	/* NULL: none */
	enum durable_state state;
	__u64 next;		/* where the next gap may begin */
};

static void tell(const struct listing *l, __u64 begin, __u64 end, __u64 since, enum durable_state state)
{
	const struct durable_range r = { begin, end, since, state };

	if (begin < end)
		l->each(&r, l->data);
}

static void tell_pending(const struct extent *x, void *data)
{
	const struct listing *l = data;
	const struct extent_version *newest = &x->versions[x->nr - 1];
	enum durable_state state = newest->state == EXTENT_MEMORY ? DURABLE_MEMORY :
				   newest->state == EXTENT_WRITEBACK ? DURABLE_WRITEBACK :
				   durable_flushed(l->d, l->f, newest->at) ? DURABLE_UNPROVEN : DURABLE_CACHE;

	tell(l, x->begin, x->end, x->versions[0].first, state);
}

static void tell_rest(const struct extent *x, void *data);

static void tell_gap(struct listing *l, __u64 begin, __u64 end)
{
	struct listing rest = *l;
	const struct extent gap = { .begin = begin, .end = end };

	if (begin >= end)
		return;
	rest.less[0] = l->less[1];
	rest.less[1] = NULL;
	tell_rest(&gap, &rest);
}

static void step_over(const struct extent *x, void *data)
{
	struct listing *l = data;

	tell_gap(l, l->next, x->begin);
	l->next = x->end;
}

static void tell_rest(const struct extent *x, void *data)
{
	struct listing *l = data;

	if (!l->less[0]) {
		tell(l, x->begin, x->end, 0, l->state);
		return;
	}
	l->next = x->begin;
	extents_each(l->less[0], x->begin, x->end, step_over, l);
	tell_gap(l, l->next, x->end);
}

void durable_ranges(const struct durable *d, const struct durable_file *f,
		    void (*each)(const struct durable_range *r, void *data), void *data)
{
	struct listing l = { .d = d, .f = f, .each = each, .data = data };

	extents_each(&f->pending, 0, DURABLE_ALL, tell_pending, &l);
	l.less[0] = &f->pending;
	l.state = DURABLE_UNKNOWN;
	extents_each(&f->unknown, 0, DURABLE_ALL, tell_rest, &l);
	l.less[1] = &f->unknown;
	l.state = DURABLE_SAFE;
	extents_each(&f->synced, 0, DURABLE_ALL, tell_rest, &l);
}
