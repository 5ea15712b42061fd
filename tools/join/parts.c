// SPDX-License-Identifier: GPL-2.0
/* Divides a request's time into parts, by its calls and the requests below them. */
#include <stdlib.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "join/join.h"

struct spans {
	struct join_span *at;
	size_t nr, room;
};

static void add(struct spans *s, __s64 lo, __s64 hi)
{
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->at = xreallocarray(s->at, s->room, sizeof(*s->at));
	}
	s->at[s->nr++] = (struct join_span){ lo, hi };
}

static int by_lo(const void *a, const void *b)
{
	const struct join_span *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* The total length of the union of the spans. */
static __u64 length_of(struct spans *s)
{
	__s64 end = 0;
	__u64 sum = 0;
	size_t i;

	if (s->nr)
		qsort(s->at, s->nr, sizeof(*s->at), by_lo);
	for (i = 0; i < s->nr; i++) {
		__s64 lo = i && s->at[i].lo < end ? end : s->at[i].lo;

		if (s->at[i].hi <= lo)
			continue;
		sum += s->at[i].hi - lo;
		end = s->at[i].hi;
	}
	return sum;
}

static int by_index(const void *a, const void *b)
{
	const __u32 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The requests of the host below the request's calls, each once. */
struct belows {
	__u32 *at;
	size_t nr, room;
};

static void add_belows(const struct join *j, const struct join_call *c, struct belows *b)
{
	size_t i;

	for (i = join_first_below(j, c); i < j->nr_below && j->below[i].begin <= c->returned; i++) {
		if (!join_is_below(c, &j->below[i]))
			continue;
		if (b->nr == b->room) {
			b->room = b->room ? 2 * b->room : 16;
			b->at = xreallocarray(b->at, b->room, sizeof(*b->at));
		}
		b->at[b->nr++] = i;
	}
}

/* Requests such as readahead count only until the last call ended. */
static void sum_belows(const struct join *j, struct belows *b, struct join_parts *parts)
{
	struct spans spans = { 0 };
	size_t i;

	if (b->nr)
		qsort(b->at, b->nr, sizeof(*b->at), by_index);
	for (i = 0; i < b->nr; i++) {
		const struct join_below *below = &j->below[b->at[i]];
		__s64 lo = below->begin > parts->begin ? below->begin : parts->begin;

		if (i && b->at[i] == b->at[i - 1])
			continue;
		parts->nr_below++;
		add(&spans, lo, below->end < parts->end ? below->end : parts->end);
	}
	parts->below = length_of(&spans);
	free(spans.at);
}

void join_parts_of(const struct join *j, const struct join_request *r, struct join_parts *parts)
{
	__s64 offset = join_span_middle(&r->span);
	struct belows belows = { 0 };
	struct spans spans = { 0 };
	__u32 i;

	*parts = (struct join_parts){ 0 };
	for (i = r->links; i != JOIN_NONE; i = j->links[i].next_of_request) {
		const struct join_call *c = &j->calls[j->links[i].call];

		if (!spans.nr || c->begin < parts->begin)
			parts->begin = c->begin;
		if (!spans.nr || c->end > parts->end)
			parts->end = c->end;
		parts->calls += !j->links[i].other;
		parts->others += j->links[i].other;
		add(&spans, c->begin, c->end);
		add_belows(j, c, &belows);
	}
	if (spans.nr) {
		parts->before = parts->begin - (r->begin + offset);
		parts->host = parts->end - parts->begin;
		parts->after = r->end + offset - parts->end;
		parts->call = length_of(&spans);
		sum_belows(j, &belows, parts);
	}
	free(spans.at);
	free(belows.at);
}
