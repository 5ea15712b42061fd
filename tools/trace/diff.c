// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/diff.h"

#define NS_PER_S	1e9

/* --- one side ------------------------------------------------------------------- */

/* The series of a key, while its rows are gone through. */
struct work {
	double *rates, *bytes;		/* of all intervals */
	double *means, *p99s, *slow;	/* of those that have events */
	size_t nr;
	__u64 count, moved, latency;
	struct distribution all;
};

static struct diff_key *new_key(struct diff *d)
{
	if (d->nr == d->room) {
		d->room = 2 * d->room + 64;
		d->at = xreallocarray(d->at, d->room, sizeof(*d->at));
	}
	memset(&d->at[d->nr], 0, sizeof(d->at[d->nr]));
	return &d->at[d->nr++];
}

static struct diff_key *key_of(struct diff *d, const struct stats *s, __u32 key)
{
	size_t length;
	const char *text = intern_bytes(&s->table.names, key, &length);
	__u32 number = intern_add(&d->names, text, length);
	struct diff_key *k;

	if (number < d->nr)
		return &d->at[number];
	k = new_key(d);
	memcpy(k->command, s->totals[key].command, sizeof(k->command));
	return k;
}

static int compare_rows(const void *a, const void *b)
{
	const struct stats_row *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->interval > y->interval) - (x->interval < y->interval);
}

static void begin(struct diff *d, struct work *w, const struct stats_row *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < d->intervals; i++)
		w->rates[i] = 0;
	memcpy(w->bytes, w->rates, d->intervals * sizeof(*w->bytes));
	w->nr = 0;
	w->count = 0;
	w->moved = 0;
	w->latency = 0;
	for (i = 0; i < nr; i++) {
		w->count += rows[i].count;
		w->moved += rows[i].bytes;
		w->latency += rows[i].latency.total;
		distribution_merge(&w->all, &rows[i].latencies);
	}
}

/* What began before the trace is in the sums, but in none of the intervals. */
static void add_row(struct diff *d, struct work *w, struct stats_row *row, double seconds,
		    __u64 threshold)
{
	const unsigned int part = 9900;
	__u64 p99, slow = distribution_above(&row->latencies, threshold);

	if ((__u64)row->interval >= d->intervals)
		return;
	w->rates[row->interval] = row->count / seconds;
	w->bytes[row->interval] = row->bytes / seconds;
	distribution_percentiles(&row->latencies, &part, 1, &p99);
	w->means[w->nr] = (double)row->latency.total / row->count;
	w->slow[w->nr] = (double)slow / row->count;
	w->p99s[w->nr++] = p99;
}

static void end(const struct diff *d, struct work *w, struct diff_key *k, enum diff_side side)
{
	const struct { double *values; size_t nr; } shown[DIFF_METRICS] = {
		[DIFF_COUNT] = { w->rates, d->intervals }, [DIFF_BYTES] = { w->bytes, d->intervals },
		[DIFF_MEAN] = { w->means, w->nr }, [DIFF_P99] = { w->p99s, w->nr },
	};
	int i;

	for (i = 0; i < DIFF_METRICS; i++) {
		series_of(&k->at[i].shown[side], shown[i].values, shown[i].nr);
		k->at[i].tested[side] = k->at[i].shown[side];
	}
	series_of(&k->at[DIFF_P99].tested[side], w->slow, w->nr);
	k->count[side] = w->count;
	k->at[DIFF_COUNT].value[side] = w->count / d->seconds[side];
	k->at[DIFF_BYTES].value[side] = w->moved / d->seconds[side];
	k->at[DIFF_MEAN].value[side] = (double)w->latency / w->count;
}

static void take_key(struct diff *d, enum diff_side side, struct stats *s, struct work *w,
		     struct stats_row *rows, size_t nr)
{
	struct diff_key *k = key_of(d, s, rows[0].key);
	const unsigned int part = 9900;
	__u64 p99;
	size_t i;

	begin(d, w, rows, nr);
	distribution_percentiles(&w->all, &part, 1, &p99);
	distribution_free(&w->all);
	if (side == DIFF_A)
		k->threshold = p99;
	for (i = 0; i < nr; i++) {
		add_row(d, w, &rows[i], s->interval / NS_PER_S, k->threshold);
		distribution_free(&rows[i].latencies);
	}
	end(d, w, k, side);
	k->at[DIFF_P99].value[side] = p99;
}

void diff_take(struct diff *d, enum diff_side side, struct stats *s)
{
	double *room = xreallocarray(NULL, 5 * d->intervals, sizeof(*room));
	struct work w = {
		.rates = room, .bytes = room + d->intervals, .means = room + 2 * d->intervals,
		.p99s = room + 3 * d->intervals, .slow = room + 4 * d->intervals,
	};
	size_t from, to;

	d->with_command = s->with_command;
	if (s->nr)
		qsort(s->rows, s->nr, sizeof(*s->rows), compare_rows);
	for (from = 0; from < s->nr; from = to) {
		for (to = from; to < s->nr && s->rows[to].key == s->rows[from].key; to++)
			;
		take_key(d, side, s, &w, &s->rows[from], to - from);
	}
	free(room);
}

/* --- both sides ----------------------------------------------------------------- */

double diff_change(const struct diff_values *v)
{
	return v->value[DIFF_B] / v->value[DIFF_A] - 1;
}

/* A side without the key has none of it in each interval. */
static void fill(const struct diff *d, struct diff_key *k)
{
	const struct series none = { .nr = d->intervals, .independent = d->intervals };
	int side, m;

	for (side = 0; side < DIFF_SIDES; side++)
		for (m = DIFF_COUNT; !k->count[side] && m <= DIFF_BYTES; m++) {
			k->at[m].shown[side] = none;
			k->at[m].tested[side] = none;
		}
}

size_t diff_compare(struct diff *d)
{
	size_t i, m;

	for (i = 0; i < d->nr; i++) {
		struct diff_key *k = &d->at[i];
		bool both = k->count[DIFF_A] && k->count[DIFF_B];

		fill(d, k);
		d->only[DIFF_A] += !k->count[DIFF_B];
		d->only[DIFF_B] += !k->count[DIFF_A];
		for (m = 0; m < DIFF_METRICS; m++) {
			struct diff_values *v = &k->at[m];

			v->known = (both || m == DIFF_COUNT || m == DIFF_BYTES) &&
				   (v->value[DIFF_A] > 0 || v->value[DIFF_B] > 0);
			v->chance = v->known ? series_chance(&v->tested[DIFF_A], &v->tested[DIFF_B]) : 1;
			d->comparisons += v->known;
		}
	}
	return d->comparisons;
}

static void judge(struct diff_key *k, double chance, double least)
{
	size_t m;

	for (m = 0; m < DIFF_METRICS; m++) {
		struct diff_values *v = &k->at[m];

		v->changed = v->known && v->chance <= chance && fabs(diff_change(v)) >= least;
		if (!v->changed)
			continue;
		k->changed = true;
		if (v->value[DIFF_A] > 0 && v->value[DIFF_B] > 0)
			k->effect = fmax(k->effect, fabs(log(v->value[DIFF_B] / v->value[DIFF_A])));
	}
}

/*
 * What changed before what did not; keys of one trace only, whose effect has no bounds, are last
 * of each.
 */
static int compare_keys(const void *a, const void *b, void *data)
{
	const struct diff *d = data;
	const __u32 x = *(const __u32 *)a, y = *(const __u32 *)b;
	const struct diff_key *p = &d->at[x], *q = &d->at[y];
	bool both[] = { p->count[DIFF_A] && p->count[DIFF_B], q->count[DIFF_A] && q->count[DIFF_B] };
	__u64 counts[] = { p->count[DIFF_A] + p->count[DIFF_B], q->count[DIFF_A] + q->count[DIFF_B] };

	if (p->changed != q->changed)
		return q->changed - p->changed;
	if (both[0] != both[1])
		return both[1] - both[0];
	if (p->effect != q->effect)
		return p->effect < q->effect ? 1 : -1;
	if (counts[0] != counts[1])
		return counts[0] < counts[1] ? 1 : -1;
	return (x > y) - (x < y);
}

void diff_judge(struct diff *d, double chance, double least)
{
	size_t i;

	d->order = xreallocarray(NULL, d->nr + 1, sizeof(*d->order));
	for (i = 0; i < d->nr; i++) {
		judge(&d->at[i], chance, least);
		d->nr_changed += d->at[i].changed;
		d->order[i] = i;
	}
	qsort_r(d->order, d->nr, sizeof(*d->order), compare_keys, d);
}

void diff_free(struct diff *d)
{
	intern_free(&d->names);
	free(d->at);
	free(d->order);
}

const char *diff_key_text(const struct diff *d, __u32 key, size_t i)
{
	size_t length;
	const char *text = intern_bytes(&d->names, key, &length);

	while (i--)
		text += strlen(text) + 1;
	return text;
}
