// SPDX-License-Identifier: GPL-2.0
#include "trace/durable_file.h"
#include "trace/durable_flush.h"
#include "trace/durable_version.h"

/* What is done with the ranges of a file. */
struct step {
	struct durable *d;
	struct durable_file *f;
	__u64 begin, end;		/* of a sync */
	struct extent_version version;	/* to be added */
};

/* Rounds up to three digits, so that a file has few different exposures. */
static __u64 rounded(__u64 ns)
{
	__u64 unit = 1;

	while (ns / unit >= 1000)
		unit *= 10;
	return ns / unit * unit + (ns % unit ? unit : 0);
}

void durable_exposure_count(struct durable_file *f, __u64 bytes, __u64 first, __u64 durable)
{
	__u64 ns = durable > first ? durable - first : 0;

	if (ns > f->longest)
		f->longest = ns;
	distribution_add(&f->exposures, rounded(ns), bytes);
}

/*
 * Removes versions that are durable: those before @nr that were acknowledged until @covers, and
 * the last.
 */
static void remove_versions(struct durable_file *f, struct extent *x, unsigned int nr, __u64 covers, __u64 durable)
{
	unsigned int i, kept = 0;

	for (i = 0; i < x->nr; i++) {
		if (i + 1 == nr || (i < nr && x->versions[i].last <= covers))
			durable_exposure_count(f, x->end - x->begin, x->versions[i].first, durable);
		else
			x->versions[kept++] = x->versions[i];
	}
	x->nr = kept;
}

/* Takes what a flush made durable. Returns whether something is left. */
static bool settle(struct extent *x, void *data)
{
	const struct step *s = data;
	unsigned int i;

	if (!s->d->in_place || !extents_has(&s->f->synced, x->begin, x->end))
		return x->nr;
	for (i = x->nr; i > 0;) {
		const struct extent_version *v = &x->versions[i - 1];
		__u64 durable = v->state == EXTENT_CACHE ? durable_flushed(s->d, s->f, v->at) : 0;

		if (!durable) {
			i--;
			continue;
		}
		extents_drop(&s->f->unknown, x->begin, x->end);
		remove_versions(s->f, x, i, v->covers, durable);
		i = x->nr;
	}
	return x->nr;
}

/* Takes what a call made durable, which was acknowledged before the call began. */
static bool sync_one(struct extent *x, void *data)
{
	const struct step *s = data;
	unsigned int i;

	settle(x, data);
	for (i = x->nr; i > 0 && x->versions[i - 1].last > s->begin; i--)
		;
	if (!i)
		return x->nr;
	remove_versions(s->f, x, i, s->begin, s->end);
	extents_add(&s->f->synced, x->begin, x->end);
	extents_drop(&s->f->unknown, x->begin, x->end);
	return x->nr;
}

static bool add_one(struct extent *x, void *data)
{
	const struct step *s = data;

	settle(x, data);
	if (x->nr == EXTENT_VERSIONS) {
		/* The newest two become one that is in memory, which claims least. */
		x->versions[x->nr - 2].last = x->versions[x->nr - 1].last;
		x->versions[x->nr - 2].state = EXTENT_MEMORY;
		x->nr--;
	}
	x->versions[x->nr++] = s->version;
	return true;
}

static bool start_one(struct extent *x, void *data)
{
	const struct step *s = data;
	unsigned int i;

	for (i = 0; i < x->nr; i++)
		if (x->versions[i].state == EXTENT_MEMORY && x->versions[i].last <= s->begin)
			x->versions[i].state = EXTENT_WRITEBACK;
	return true;
}

static bool end_one(struct extent *x, void *data)
{
	const struct step *s = data;
	unsigned int i;

	for (i = 0; i < x->nr; i++) {
		if (x->versions[i].state != EXTENT_WRITEBACK)
			continue;
		x->versions[i].state = EXTENT_CACHE;
		x->versions[i].at = s->begin;
	}
	return true;
}

static void each(struct step *s, __u64 begin, __u64 end, bool (*one)(struct extent *x, void *data))
{
	struct extents *pending = &s->f->pending;

	extents_put(pending, extents_keep(pending, extents_take(pending, begin, end), one, s));
}

void durable_range_sync(struct durable *d, struct durable_file *f, __u64 begin, __u64 end, __u64 from, __u64 to)
{
	struct step s = { .d = d, .f = f, .begin = from, .end = to };

	each(&s, begin, end, sync_one);
}

void durable_make_unknown(struct durable_file *f, __u64 begin, __u64 end)
{
	if (!f->crowded)
		extents_add(&f->unknown, begin, end);
}

static bool forget_one(struct extent *x, void *data)
{
	const struct step *s = data;

	durable_make_unknown(s->f, x->begin, x->end);
	return false;
}

/* Nothing that is exposed will be known to be durable. */
void durable_give_up(struct durable *d, struct durable_file *f)
{
	struct step s = { .d = d, .f = f };

	each(&s, 0, DURABLE_ALL, forget_one);
}

void durable_writeback(struct durable *d, struct durable_file *f, __u64 begin, __u64 end, __u64 time, bool ended)
{
	struct step s = { .d = d, .f = f, .begin = time };

	each(&s, begin, end, ended ? end_one : start_one);
}

void durable_finish(struct durable *d)
{
	size_t i;

	/* Else flushes prove nothing, and there may be very many ranges. */
	for (i = 0; d->in_place && i < d->nr_list; i++) {
		struct step s = { .d = d, .f = &d->files[d->list[i]] };

		each(&s, 0, DURABLE_ALL, settle);
	}
	durable_prune(d);
}

/* Whether there is room for a further range of the file; else it is given up. */
bool durable_has_room(struct durable *d, struct durable_file *f)
{
	if (d->extents < DURABLE_EXTENTS / 2)
		d->swept = false;
	if (d->extents >= DURABLE_EXTENTS && !d->swept) {
		durable_finish(d);
		d->swept = true;
	}
	if (d->extents < DURABLE_EXTENTS && !f->crowded)
		return true;
	f->crowded = true;
	extents_free(&f->pending);
	extents_free(&f->unknown);
	extents_free(&f->synced);
	return false;
}

/* Cuts pending ranges where synced ones begin and end: which of the ways is open differs there. */
static void cut_at(const struct extent *x, void *data)
{
	struct step *s = data;

	if (x->begin > s->begin)
		extents_cut(&s->f->pending, x->begin);
	if (x->end < s->end)
		extents_cut(&s->f->pending, x->end);
}

void durable_expose(struct durable *d, struct durable_file *f, __u64 begin, __u64 end,
		    const struct extent_version *v)
{
	struct step s = { .d = d, .f = f, .begin = begin, .end = end, .version = *v };
	struct extent *x;

	if (begin >= end || end > DURABLE_ALL || !durable_has_room(d, f))
		return;
	x = extents_fill(&f->pending, extents_take(&f->pending, begin, end), begin, end);
	extents_put(&f->pending, x);
	if (d->in_place)
		extents_each(&f->synced, begin, end, cut_at, &s);
	each(&s, begin, end, add_one);
	if (end > f->end)
		f->end = end;
	durable_file_list(d, f);
}
