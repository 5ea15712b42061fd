// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates the offset between the clocks of guest and host over time.
 *
 * A call is a candidate for a request if it performs the same operation and begins where the image
 * stores the request's first byte. Each candidate allows one span of offsets (join.h). Most requests
 * have one right candidate; the spans of wrong candidates are scattered.
 *
 * 1. Several groups of consecutive requests vote for an offset: the one at which most spans overlap.
 *    The group whose winner is furthest ahead of its runner-up decides. If no winner is ahead, or the
 *    best one has fewer than half of the requests with candidates, the traces do not match.
 * 2. Starting there, forward and back, the trace is cut into windows of 0.1 s. The clocks drift apart
 *    by at most j->drift ppm, so a window's span lies within its neighbour's, widened by the drift
 *    between them. Within these limits, it is where most of its requests agree. A window without
 *    candidates keeps the widened span.
 * 3. A clock may step. steps.c looks for stretches in which requests have candidates, but at other
 *    times.
 *
 * The span that a request allows is widened by the drift between the request and its window's time,
 * so the spans hold for any drift below the limit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "join/join.h"

#define GROUP_REQUESTS	256
#define GROUP_LEAST	16
#define GROUP_NS	60000000000LL
#define GROUPS		16	/* that vote */
#define NEAREST		64	/* candidates of a request at first, by the time of day, */
#define NEAREST_AGAIN	4096	/* and if that is not enough */
#define KEYS		8	/* places of a request, one per layer */
#define ANY_TIME	(1LL << 62)

struct join_key {
	__u64 key;
	__u32 call;
};

/* Spans allowed by requests; those of the same request do not overlap. */
struct ballot {
	struct join_span *at;
	size_t nr, room;
	size_t voters;
};

/* The offsets at which most spans overlap. */
struct peak {
	struct join_span span;	/* of the first such place */
	struct join_span all;	/* from the first such place to the last */
	size_t votes, second;	/* and at the best other place */
};

/* --- places -------------------------------------------------------------------------- */

static __u64 mix(__u64 n)
{
	n = (n ^ n >> 31) * 0x9e3779b97f4a7c15ULL;
	n = (n ^ n >> 29) * 0xbf58476d1ce4e5b9ULL;
	return n ^ n >> 32;
}

/* @file: JOIN_NONE if the place is not known, but the size is. */
static __u64 key_of(enum join_call_kind kind, __u32 file, __u64 place)
{
	return mix(mix(place) + ((__u64)file << 3 | kind));
}

static __u64 key_of_call(const struct join *j, const struct join_call *c)
{
	return j->image.unknown ? key_of(c->kind, JOIN_NONE, c->size) : key_of(c->kind, c->file, c->offset);
}

static int by_key(const void *a, const void *b)
{
	const struct join_key *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static void make_keys(struct join *j)
{
	size_t i;

	j->keys = xreallocarray(NULL, j->nr_calls, sizeof(*j->keys));
	for (i = 0; i < j->nr_calls; i++) {
		if (j->calls[i].kind == CALL_SYNC)
			continue;
		j->keys[j->nr_keys++] = (struct join_key){ key_of_call(j, &j->calls[i]), i };
	}
	if (j->nr_keys)
		qsort(j->keys, j->nr_keys, sizeof(*j->keys), by_key);
}

static enum join_call_kind call_of(enum join_kind kind)
{
	static const enum join_call_kind calls[] = {
		[JOIN_READ] = CALL_READ, [JOIN_WRITE] = CALL_WRITE, [JOIN_DISCARD] = CALL_ALLOCATE,
		[JOIN_ZEROES] = CALL_ALLOCATE, [JOIN_FLUSH] = CALL_SYNC,
	};

	return calls[kind];
}

/* The keys of calls that begin where the request does. Returns their number, KEYS at most. */
static size_t keys_of(struct join *j, const struct join_request *r, __u64 *keys)
{
	const struct join_extents *e = &j->extents;
	size_t i, nr = 0;

	if (r->early || r->kind == JOIN_FLUSH)
		return 0;
	if (j->image.unknown) {
		keys[0] = key_of(call_of(r->kind), JOIN_NONE, r->size);
		return 1;
	}
	if (!join_image_map(&j->image, r, &j->extents))
		return 0;
	for (i = 0; i < e->nr && nr < KEYS; i++)
		if (e->at[i].guest == 512 * r->sector && !e->at[i].compressed)
			keys[nr++] = key_of(call_of(r->kind), e->at[i].file, e->at[i].host);
	return nr;
}

/* The first call of a key that began at @begin or later. */
static size_t first_of_key(const struct join *j, __u64 key, __s64 begin)
{
	size_t low = 0, high = j->nr_keys;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct join_key *k = &j->keys[middle];

		if (k->key < key || (k->key == key && j->calls[k->call].begin < begin))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- votes ----------------------------------------------------------------------------- */

static __s64 drift_of(const struct join *j, __s64 time)
{
	double ns = (double)(time < 0 ? -time : time) * j->drift / 1e6;

	return ns < 1e18 ? (__s64)ns + 1 : (__s64)1e18;
}

static void add_span(struct ballot *b, struct join_span span)
{
	if (b->nr == b->room) {
		b->room = b->room ? 2 * b->room : 1024;
		b->at = xreallocarray(b->at, b->room, sizeof(*b->at));
	}
	b->at[b->nr++] = span;
}

static int by_lo(const void *a, const void *b)
{
	const struct join_span *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Merges the overlapping spans of a request, which are those from @first on. */
static void end_voter(struct ballot *b, size_t first)
{
	size_t i, out = first;

	if (b->nr == first)
		return;
	b->voters++;
	qsort(b->at + first, b->nr - first, sizeof(*b->at), by_lo);
	for (i = first + 1; i < b->nr; i++) {
		if (b->at[i].lo > b->at[out].hi)
			b->at[++out] = b->at[i];
		else if (b->at[i].hi > b->at[out].hi)
			b->at[out].hi = b->at[i].hi;
	}
	b->nr = out + 1;
}

struct edge {
	__s64 at;
	int step;	/* 1: a span begins */
};

static int by_edge(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return y->step - x->step;
}

static void note_place(struct peak *p, struct join_span span, size_t votes)
{
	if (votes > p->votes) {
		p->second = p->votes;
		p->votes = votes;
		p->span = span;
		p->all = span;
	} else if (votes == p->votes) {
		p->second = votes;
		p->all.hi = span.hi;
	} else if (votes > p->second) {
		p->second = votes;
	}
}

static struct peak find_peak(const struct ballot *b)
{
	struct edge *edges = xreallocarray(NULL, 2 * b->nr, sizeof(*edges));
	struct peak p = { 0 };
	size_t i, depth = 0;

	for (i = 0; i < b->nr; i++) {
		edges[2 * i] = (struct edge){ b->at[i].lo, 1 };
		edges[2 * i + 1] = (struct edge){ b->at[i].hi, -1 };
	}
	if (b->nr)
		qsort(edges, 2 * b->nr, sizeof(*edges), by_edge);
	for (i = 0; i < 2 * b->nr; i++) {
		if (edges[i].step < 0 && edges[i - 1].step > 0)
			note_place(&p, (struct join_span){ edges[i - 1].at, edges[i].at }, depth);
		depth += edges[i].step;
	}
	free(edges);
	return p;
}

/* The span that a pair allows at @time of the guest. */
static struct join_span span_of(const struct join *j, const struct join_request *r,
				const struct join_call *c, __s64 time)
{
	__s64 wider = drift_of(j, r->begin - time);

	return (struct join_span){ c->end - r->end - wider, c->begin - r->begin + wider };
}

/* Whether the call is short enough to fall inside the request's time. */
static bool is_shorter(const struct join_request *r, const struct join_call *c)
{
	return c->end - c->begin <= r->end - r->begin;
}

/* --- the first offset ------------------------------------------------------------------- */

/* The requests whose offset is searched for, and its limits. */
struct search {
	size_t first, end;	/* requests */
	size_t group;		/* requests that vote together, at most */
	struct join_span limit;	/* of the times at which they began, by the host's clock */
	__s64 expected;		/* offset around which calls are searched for */
};

/* Adds the votes of the calls with this key that are nearest to the request. */
static void ask_nearest(struct join *j, const struct search *s, const struct join_request *r, __u64 key,
			__s64 time, size_t most, struct ballot *b)
{
	const struct join_span limit = { s->limit.lo - r->begin, s->limit.hi - r->begin };
	size_t middle = first_of_key(j, key, r->begin + s->expected), low = middle, i;

	while (low && middle - low < most / 2 && j->keys[low - 1].key == key)
		low--;
	for (i = low; i < j->nr_keys && i - low < most && j->keys[i].key == key; i++) {
		const struct join_call *c = &j->calls[j->keys[i].call];
		struct join_span span = join_span_and(span_of(j, r, c, time), limit);

		if (is_shorter(r, c) && !join_span_is_empty(&span))
			add_span(b, span);
	}
}

static struct peak ask_group(struct join *j, const struct search *s, size_t first, size_t nr, __s64 time,
			     size_t most, size_t *voters)
{
	struct ballot b = { 0 };
	__u64 keys[KEYS];
	struct peak p;
	size_t i, k;

	for (i = first; i < first + nr; i++) {
		size_t begin = b.nr, nr_keys = keys_of(j, &j->requests[i], keys);

		for (k = 0; k < nr_keys; k++)
			ask_nearest(j, s, &j->requests[i], keys[k], time, most, &b);
		end_voter(&b, begin);
	}
	p = find_peak(&b);
	*voters = b.voters;
	free(b.at);
	return p;
}

static size_t end_of_group(const struct join *j, const struct search *s, size_t first)
{
	size_t i = first + 1;

	while (i < s->end && i - first < s->group &&
	       j->requests[i].begin - j->requests[first].begin < GROUP_NS)
		i++;
	return i;
}

struct anchor {
	size_t request;		/* in the middle of the group */
	struct peak peak;
	size_t voters;
};

static void try_group(struct join *j, const struct search *s, size_t first, size_t most, struct anchor *best)
{
	size_t end = end_of_group(j, s, first), middle = first + (end - first) / 2, voters;
	struct peak p = ask_group(j, s, first, end - first, j->requests[middle].begin, most, &voters);

	if (best->voters && p.votes - p.second <= best->peak.votes - best->peak.second)
		return;
	if (voters)
		*best = (struct anchor){ middle, p, voters };
}

/* Lets @nr groups vote, which are spread over the requests. */
static void try_groups(struct join *j, const struct search *s, size_t nr, size_t most, struct anchor *best)
{
	size_t first, groups = 0, n = 0, step;

	*best = (struct anchor){ 0 };
	for (first = s->first; first < s->end; first = end_of_group(j, s, first))
		groups++;
	step = (groups + nr - 1) / nr;
	for (first = s->first; first < s->end; first = end_of_group(j, s, first), n++)
		if (n % step == 0)
			try_group(j, s, first, most, best);
}

static bool is_good(const struct anchor *a)
{
	return a->voters && 2 * a->peak.votes >= a->voters && a->peak.votes > a->peak.second;
}

/* If the clocks step often, only small groups have one offset. They need a minimum of votes. */
static bool search(struct join *j, struct search *s, struct anchor *best)
{
	struct anchor a;

	*best = (struct anchor){ 0 };
	for (s->group = GROUP_REQUESTS; s->group >= GROUP_LEAST; s->group /= 4) {
		try_groups(j, s, GROUPS, NEAREST, &a);
		if (!is_good(&a))
			try_groups(j, s, GROUPS / 4, NEAREST_AGAIN, &a);
		if (s->group == GROUP_REQUESTS || (is_good(&a) && 2 * a.peak.votes >= GROUP_LEAST))
			*best = a;
		if (is_good(best))
			break;
	}
	return is_good(best);
}

static int find_anchor(struct join *j, struct anchor *best)
{
	struct search all = { .end = j->nr_requests, .limit = { -ANY_TIME, ANY_TIME } };

	if (search(j, &all, best))
		return CLI_OK;
	if (!best->voters)
		cli_say_of(j->guest.named, "no call in %s has the bytes of a request: is %s drive %s, and were the traces recorded at the same time?",
			   j->host.named, j->disk, j->image.name);
	else if (2 * best->peak.votes < best->voters)
		cli_say_of(j->guest.named, "its clock cannot be determined from the calls in %s: at best %zu of %zu requests agree; is %s drive %s, and were the traces recorded at the same time?",
			   j->host.named, best->peak.votes, best->voters, j->disk, j->image.name);
	else
		cli_say_of(j->guest.named, "its clock cannot be determined from the calls in %s: offsets of %lld ns and of %lld ns fit the same number of requests; record for longer, or with other work",
			   j->host.named, best->peak.all.lo, best->peak.all.hi);
	return CLI_FAILED;
}

/* --- the other windows ------------------------------------------------------------------- */

struct join_span join_span_at(const struct join *j, const struct join_window *w, __s64 time)
{
	__s64 wider = drift_of(j, time - w->time);

	return (struct join_span){ w->span.lo - wider, w->span.hi + wider };
}

static void ask_near(struct join *j, const struct join_request *r, __u64 key,
		     const struct join_window *w, struct ballot *b)
{
	struct join_span at = join_span_at(j, w, r->begin);
	size_t i = first_of_key(j, key, r->begin + at.lo);

	for (; i < j->nr_keys && j->keys[i].key == key; i++) {
		const struct join_call *c = &j->calls[j->keys[i].call];
		struct join_span span;

		if (c->begin > r->end + at.hi)
			break;
		if (!is_shorter(r, c))
			continue;
		span = join_span_and(span_of(j, r, c, w->time), w->span);
		if (!join_span_is_empty(&span))
			add_span(b, span);
	}
}

/* Whether a call exists at a place of the request, at any time. */
static bool has_calls(const struct join *j, const __u64 *keys, size_t nr)
{
	size_t k, i;

	for (k = 0; k < nr; k++) {
		i = first_of_key(j, keys[k], -ANY_TIME);
		if (i < j->nr_keys && j->keys[i].key == keys[k])
			return true;
	}
	return false;
}

void join_ask_window(struct join *j, struct join_window *w)
{
	struct ballot b = { 0 };
	__u64 keys[KEYS];
	struct peak p;
	size_t i, k;

	w->could = 0;
	for (i = w->first; i < w->first + w->nr; i++) {
		size_t begin = b.nr, nr_keys = keys_of(j, &j->requests[i], keys);

		w->could += has_calls(j, keys, nr_keys);
		for (k = 0; k < nr_keys; k++)
			ask_near(j, &j->requests[i], keys[k], w, &b);
		end_voter(&b, begin);
	}
	p = find_peak(&b);
	w->asked = b.voters;
	w->agreed = p.votes;
	if (p.votes)
		w->span = p.all;
	free(b.at);
}

static void cut_windows(struct join *j)
{
	size_t i, room = 0;

	for (i = 0; i < j->nr_requests; i++) {
		struct join_window *w = j->nr_windows ? &j->windows[j->nr_windows - 1] : NULL;

		if (w && j->requests[i].begin - j->requests[w->first].begin < JOIN_WINDOW_NS) {
			w->nr++;
			continue;
		}
		if (j->nr_windows == room) {
			room = room ? 2 * room : 64;
			j->windows = xreallocarray(j->windows, room, sizeof(*j->windows));
		}
		j->windows[j->nr_windows++] = (struct join_window){
			.first = i, .nr = 1, .time = j->requests[i].begin + JOIN_WINDOW_NS / 2,
		};
	}
}

static size_t window_of(const struct join *j, size_t request)
{
	size_t i = 0;

	while (i + 1 < j->nr_windows && j->windows[i + 1].first <= request)
		i++;
	return i;
}

static void take_anchor(const struct join *j, const struct anchor *anchor, struct join_window *from)
{
	*from = (struct join_window){
		.time = j->requests[anchor->request].begin, .span = anchor->peak.span, .agreed = anchor->peak.votes,
	};
}

bool join_find_offset(struct join *j, size_t first, size_t end, struct join_span limit, __s64 expected,
		      struct join_window *from)
{
	struct search s = { .first = first, .end = end, .limit = limit, .expected = expected };
	struct anchor anchor;

	if (!search(j, &s, &anchor))
		return false;
	take_anchor(j, &anchor, from);
	return true;
}

int join_align(struct join *j)
{
	struct join_window from;
	struct anchor anchor;
	size_t first, i;
	int status;

	make_keys(j);
	status = find_anchor(j, &anchor);
	if (status)
		return status;
	cut_windows(j);
	first = window_of(j, anchor.request);
	take_anchor(j, &anchor, &from);
	j->windows[first].span = join_span_at(j, &from, j->windows[first].time);
	join_ask_window(j, &j->windows[first]);
	for (i = first + 1; i < j->nr_windows; i++) {
		j->windows[i].span = join_span_at(j, &j->windows[i - 1], j->windows[i].time);
		join_ask_window(j, &j->windows[i]);
	}
	for (i = first; i-- > 0;) {
		j->windows[i].span = join_span_at(j, &j->windows[i + 1], j->windows[i].time);
		join_ask_window(j, &j->windows[i]);
	}
	return CLI_OK;
}
