// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/blame.h"

/* How many requests each owner has somewhere, and which owners have any. */
struct crowd {
	__u32 count[BLAME_OWNERS];
	__u16 owners[BLAME_OWNERS];	/* those with a count */
	__u16 place[BLAME_OWNERS];	/* in @owners */
	unsigned int nr;
	__u64 sum;
};

struct blame_disk {
	__u64 now;			/* all before it is divided */
	struct crowd waiting, inside;
};

static void join_crowd(struct crowd *c, unsigned int owner)
{
	if (!c->count[owner]++) {
		c->place[owner] = c->nr;
		c->owners[c->nr++] = owner;
	}
	c->sum++;
}

static void leave_crowd(struct crowd *c, unsigned int owner)
{
	c->sum--;
	if (--c->count[owner])
		return;
	c->owners[c->place[owner]] = c->owners[--c->nr];
	c->place[c->owners[c->nr]] = c->place[owner];
}

/* --- heaps ---------------------------------------------------------------------- */

/* Requests that have not begun are sorted by @begin, and have their next step there. */
static void push(struct blame_heap *h, const struct blame_request *r)
{
	size_t i = h->nr++, parent;

	if (i == h->room) {
		h->room = h->room ? 2 * h->room : 1024;
		h->at = xreallocarray(h->at, h->room, sizeof(*h->at));
	}
	for (; i && r->begin < h->at[(i - 1) / 2].begin; i = parent) {
		parent = (i - 1) / 2;
		h->at[i] = h->at[parent];
	}
	h->at[i] = *r;
}

static struct blame_request pop(struct blame_heap *h)
{
	const struct blame_request first = h->at[0], *last = &h->at[--h->nr];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->nr) {
		if (child + 1 < h->nr && h->at[child + 1].begin < h->at[child].begin)
			child++;
		if (h->at[child].begin >= last->begin)
			break;
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = *last;
	return first;
}

/* --- dividing ------------------------------------------------------------------- */

/* Charges @wait ns of a victim to the owners of the requests in the device. */
static void charge(struct blame *b, const struct crowd *inside, unsigned int victim, __u64 wait)
{
	__u64 *row = b->charged + (size_t)victim * BLAME_OWNERS;
	__u64 before = 0, behind, requests = 0;
	unsigned int i;

	if (!inside->nr)
		b->victims[victim].nobody += wait;
	for (i = 0; i < inside->nr; i++) {
		requests += inside->count[inside->owners[i]];
		behind = (__uint128_t)wait * requests / inside->sum;
		row[inside->owners[i]] += behind - before;
		before = behind;
	}
}

/* Divides the time of a disk up to @time. */
static void divide(struct blame *b, struct blame_disk *d, __u64 time)
{
	__u64 past = time - d->now;
	unsigned int i;

	d->now = time;
	for (i = 0; past && i < d->waiting.nr; i++) {
		unsigned int victim = d->waiting.owners[i];

		charge(b, &d->inside, victim, past * d->waiting.count[victim]);
	}
}

/* A request that is under way is issued, or completes. In that heap, @begin is when. */
static void step(struct blame *b)
{
	struct blame_request r = pop(&b->live);
	struct blame_disk *d = b->disks[r.disk];

	b->now = r.begin;
	divide(b, d, r.begin);
	if (!r.inside && r.begin < r.end) {
		join_crowd(&d->inside, r.owner);
		r.inside = true;
		r.begin = r.end;
		push(&b->live, &r);
		return;
	}
	if (r.inside)
		leave_crowd(&d->inside, r.owner);
	if (r.victim)
		leave_crowd(&d->waiting, r.owner);
}

static void leave_undivided(struct blame *b, const struct blame_request *r, __u64 time)
{
	if (r->victim)
		b->victims[r->owner].undivided += time;
}

/* The next request begins. */
static void begin(struct blame *b)
{
	struct blame_request r = pop(&b->coming);
	struct blame_disk *d = b->disks[r.disk];

	while (b->live.nr && b->live.at[0].begin <= r.begin)
		step(b);
	if (b->live.nr == BLAME_WINDOW) {
		leave_undivided(b, &r, r.end - r.begin);
		return;
	}
	b->now = r.begin;
	divide(b, d, r.begin);
	if (r.victim)
		join_crowd(&d->waiting, r.owner);
	r.begin = r.issued;
	push(&b->live, &r);
}

static void have_disk(struct blame *b, unsigned int disk)
{
	if (b->disks[disk])
		return;
	b->disks[disk] = xreallocarray(NULL, 1, sizeof(struct blame_disk));
	memset(b->disks[disk], 0, sizeof(struct blame_disk));
}

void blame_add(struct blame *b, const struct blame_request *r)
{
	struct blame_request new = *r;

	if (!b->charged) {
		b->charged = xreallocarray(NULL, (size_t)BLAME_OWNERS * BLAME_OWNERS, sizeof(*b->charged));
		memset(b->charged, 0, (size_t)BLAME_OWNERS * BLAME_OWNERS * sizeof(*b->charged));
	}
	if (r->victim) {
		b->victims[r->owner].requests++;
		b->victims[r->owner].wait += r->end - r->begin;
	}
	if (b->coming.nr == BLAME_WINDOW)
		begin(b);
	if (new.begin < b->now) {
		new.begin = new.end < b->now ? new.end : b->now;
		leave_undivided(b, &new, new.begin - r->begin);
	}
	if (new.issued < new.begin)
		new.issued = new.begin;
	if (new.begin == new.end)
		return;
	have_disk(b, r->disk);
	push(&b->coming, &new);
}

void blame_finish(struct blame *b)
{
	while (b->coming.nr)
		begin(b);
	while (b->live.nr)
		step(b);
}

__u64 blame_charged(const struct blame *b, unsigned int victim, unsigned int culprit)
{
	return b->charged ? b->charged[(size_t)victim * BLAME_OWNERS + culprit] : 0;
}

void blame_fold(struct blame *b, unsigned int from, unsigned int to)
{
	struct blame_victim *f = &b->victims[from], *t = &b->victims[to];
	size_t i;

	if (from == to || !b->charged)
		return;
	t->requests += f->requests;
	t->wait += f->wait;
	t->nobody += f->nobody;
	t->undivided += f->undivided;
	*f = (struct blame_victim){ 0 };
	for (i = 0; i < BLAME_OWNERS; i++) {
		b->charged[(size_t)to * BLAME_OWNERS + i] += b->charged[(size_t)from * BLAME_OWNERS + i];
		b->charged[(size_t)from * BLAME_OWNERS + i] = 0;
	}
	for (i = 0; i < BLAME_OWNERS; i++) {
		b->charged[i * BLAME_OWNERS + to] += b->charged[i * BLAME_OWNERS + from];
		b->charged[i * BLAME_OWNERS + from] = 0;
	}
}

void blame_free(struct blame *b)
{
	size_t i;

	for (i = 0; i < BLAME_DISKS; i++)
		free(b->disks[i]);
	free(b->charged);
	free(b->coming.at);
	free(b->live.at);
}
