// SPDX-License-Identifier: GPL-2.0
/*
 * Assigns calls to the requests that they served. A call is a candidate for a request if it performs
 * the same operation, overlaps the request's range in the image, and falls inside the request's time
 * for some offset in the span of the request's window. Each call that is assigned to a request narrows
 * that request's span, so that one offset holds for all of its calls.
 *
 * 1. Data, in the order in which the driver received the requests. Calls are assigned in three rounds:
 *    those with exactly an extent's bytes; those with a part of it and nothing else; those with other
 *    bytes, too (QEMU merges adjacent requests, and writes whole clusters). In each round the earlier
 *    call comes first. Each byte of a call is assigned once: requests for the same place are served
 *    one after another. A request is matched when no byte that needs a call is left.
 * 2. Where the places of the data are not known: a call with the request's size, if each is the
 *    other's only candidate.
 * 3. A flush is assigned the next sync that no earlier flush has. If there is none, flushes share one:
 *    QEMU issues one sync for all flushes that wait.
 * 4. Other calls - tables of a qcow2 image, a further sync - are assigned to a request if it is the
 *    only one during whose time the whole call can have happened.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "join/join.h"

bool join_fits(enum join_kind kind, enum join_call_kind call)
{
	switch (kind) {
	case JOIN_READ:
		return call == CALL_READ;
	case JOIN_WRITE:
		return call == CALL_WRITE;
	case JOIN_DISCARD:
		return call == CALL_ALLOCATE;
	case JOIN_ZEROES:
		return call == CALL_ALLOCATE || call == CALL_WRITE;
	default:
		return call == CALL_SYNC;
	}
}

size_t join_first_call(const struct join *j, __s64 begin)
{
	size_t low = 0, high = j->nr_calls;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (j->calls[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The offsets for which the call falls inside the request's time. */
static struct join_span allowed(const struct join_request *r, const struct join_call *c)
{
	const struct join_span own = { c->end - r->end, c->begin - r->begin };

	return join_span_and(own, r->span);
}

static bool can_have(const struct join_request *r, const struct join_call *c)
{
	struct join_span span = allowed(r, c);

	return !join_span_is_empty(&span);
}

static void take(struct join *j, __u32 request, __u32 call, bool other)
{
	struct join_request *r = &j->requests[request];
	struct join_call *c = &j->calls[call];

	if (j->nr_links == j->links_room) {
		j->links_room = j->links_room ? 2 * j->links_room : 1024;
		j->links = xreallocarray(j->links, j->links_room, sizeof(*j->links));
	}
	r->span = allowed(r, c);
	j->links[j->nr_links] = (struct join_link){ request, call, r->links, c->links, other };
	r->links = j->nr_links;
	c->links = j->nr_links++;
}

/* Undoes the assignment of the request's calls, which were the last to be assigned. */
static void give_back(struct join *j, struct join_request *r, struct join_span span)
{
	while (r->links != JOIN_NONE) {
		const struct join_link *link = &j->links[r->links];

		j->calls[link->call].links = link->next_of_call;
		r->links = link->next_of_request;
		j->nr_links--;
	}
	r->span = span;
}

/* --- 1. data ------------------------------------------------------------------------------ */

/* Covered bytes of the guest's disk: sorted spans that do not touch. */
struct cover {
	struct join_span *at;
	size_t nr, room;
};

static void add_cover(struct cover *cover, struct join_span s)
{
	size_t i = 0, k;

	while (i < cover->nr && cover->at[i].hi < s.lo - 1)
		i++;
	for (k = i; k < cover->nr && cover->at[k].lo <= s.hi + 1; k++) {
		if (cover->at[k].lo < s.lo)
			s.lo = cover->at[k].lo;
		if (cover->at[k].hi > s.hi)
			s.hi = cover->at[k].hi;
	}
	if (cover->nr + 1 - (k - i) > cover->room) {
		cover->room = cover->room ? 2 * cover->room : 16;
		cover->at = xreallocarray(cover->at, cover->room, sizeof(*cover->at));
	}
	memmove(cover->at + i + 1, cover->at + k, (cover->nr - k) * sizeof(*cover->at));
	cover->at[i] = s;
	cover->nr += 1 - (k - i);
}

static __u64 length_of(const struct join_span *s)
{
	return join_span_is_empty(s) ? 0 : (__u64)(s->hi - s->lo) + 1;
}

/* The number of bytes of a span that are covered. */
static __u64 covered_of(const struct cover *cover, struct join_span s)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < cover->nr; i++) {
		struct join_span both = join_span_and(cover->at[i], s);

		sum += length_of(&both);
	}
	return sum;
}

static __u64 covered_of_needed(const struct cover *cover, const struct join_extents *e)
{
	__u64 sum = 0;
	size_t i;

	for (i = 0; i < e->nr_needs; i++)
		sum += covered_of(cover, e->needs[i]);
	return sum;
}

/* The guest's bytes of an extent that the call covers, as a span, which may be empty. */
static struct join_span bytes_of(const struct join_call *c, const struct join_extent *x)
{
	struct join_span host = { x->host, x->host + x->host_length - 1 };
	const struct join_span call = { c->offset, c->offset + c->size - 1 };

	host = join_span_and(host, call);
	if (c->file != x->file || !c->size || join_span_is_empty(&host))
		return (struct join_span){ 1, 0 };
	if (x->compressed)
		return (struct join_span){ x->guest, x->guest + x->length - 1 };
	return (struct join_span){ x->guest + (host.lo - x->host), x->guest + (host.hi - x->host) };
}

/* Whether these bytes of the call are assigned to another request. */
static bool is_taken(const struct join *j, const struct join_call *c, struct join_span bytes)
{
	__u32 i;

	for (i = c->links; i != JOIN_NONE; i = j->links[i].next_of_call) {
		const struct join_request *r = &j->requests[j->links[i].request];
		struct join_span own = { 512 * r->sector, 512 * r->sector + r->size - 1 };

		own = join_span_and(own, bytes);
		if (!join_span_is_empty(&own))
			return true;
	}
	return false;
}

/* The rounds in which calls are assigned. */
enum choice { CHOICE_WHOLE, CHOICE_ALONE, CHOICE_ANY, CHOICES };

/* Whether the call belongs to the round. @bytes: how many of the request's bytes it covers. */
static bool is_choice(enum choice choice, const struct join_extents *e, const struct join_call *c,
		      __u64 bytes)
{
	size_t i;

	if (choice == CHOICE_ANY)
		return true;
	if (bytes < c->size)
		return false;
	for (i = 0; choice == CHOICE_WHOLE && i < e->nr; i++)
		if (e->at[i].file == c->file && e->at[i].host == c->offset && e->at[i].host_length == c->size)
			return true;
	return choice == CHOICE_ALONE;
}

/* Assigns the call if it covers bytes that are not covered yet. */
static void try_call(struct join *j, __u32 request, __u32 call, enum choice choice, struct cover *cover)
{
	const struct join_extents *e = &j->extents;
	const struct join_call *c = &j->calls[call];
	__u64 all = 0;
	bool more = false;
	size_t i;

	for (i = 0; i < e->nr; i++) {
		struct join_span bytes = bytes_of(c, &e->at[i]);

		if (join_span_is_empty(&bytes))
			continue;
		if (is_taken(j, c, bytes))
			return;
		all += length_of(&bytes);
		more |= covered_of(cover, bytes) < length_of(&bytes);
	}
	if (!more || !is_choice(choice, e, c, all) || !can_have(&j->requests[request], c))
		return;
	take(j, request, call, false);
	for (i = 0; i < e->nr; i++) {
		struct join_span bytes = bytes_of(c, &e->at[i]);

		if (!join_span_is_empty(&bytes))
			add_cover(cover, bytes);
	}
}

static void take_data(struct join *j, __u32 request, enum choice choice, struct cover *cover)
{
	struct join_request *r = &j->requests[request];
	const struct join_span all = { 512 * r->sector, 512 * r->sector + r->size - 1 };
	__s64 last = r->end + r->span.hi;
	size_t i;

	for (i = join_first_call(j, r->begin + r->span.lo); i < j->nr_calls; i++) {
		if (j->calls[i].begin > last || covered_of(cover, all) == r->size)
			break;
		if (join_fits(r->kind, j->calls[i].kind))
			try_call(j, request, i, choice, cover);
	}
}

/* Whether some bytes that need a call are in no file of the image. */
static bool has_no_place(const struct join_extents *e)
{
	struct cover places = { 0 };
	bool none;
	size_t i;

	for (i = 0; i < e->nr; i++)
		add_cover(&places, (struct join_span){ e->at[i].guest, e->at[i].guest + e->at[i].length - 1 });
	none = covered_of_needed(&places, e) < e->needed;
	free(places.at);
	return none;
}

static bool is_outside(const struct join *j, const struct join_request *r)
{
	return r->begin + r->span.lo < j->host_begin ||
	       (j->host_end && r->end + r->span.hi > j->host_end);
}

static void match_data(struct join *j, __u32 request)
{
	struct join_request *r = &j->requests[request];
	struct join_span before = r->span;
	struct cover cover = { 0 };
	enum choice choice;
	__u64 covered;

	if (!join_image_map(&j->image, r, &j->extents)) {
		r->reason = REASON_AMBIGUOUS;
		return;
	}
	for (choice = 0; choice < CHOICES; choice++)
		take_data(j, request, choice, &cover);
	covered = covered_of_needed(&cover, &j->extents);
	free(cover.at);
	if (covered == j->extents.needed) {
		r->match = r->links != JOIN_NONE ? MATCH_OFFSET : MATCH_ZERO;
		return;
	}
	r->reason = covered ? REASON_PART : REASON_NO_CALL;
	r->covered = covered;
	if (!covered && has_no_place(&j->extents))
		r->reason = REASON_NO_PLACE;
	if (is_outside(j, r))
		r->reason = REASON_OUTSIDE;
	give_back(j, r, before);
}

/* --- 2. by size and time ---------------------------------------------------------------- */

/* The number of candidates by size and time. Stores the last of them in *@one. */
static size_t calls_of_size(const struct join *j, const struct join_request *r, __u32 *fits, __u32 *one)
{
	size_t i, nr = 0;

	for (i = join_first_call(j, r->begin + r->span.lo); i < j->nr_calls; i++) {
		const struct join_call *c = &j->calls[i];

		if (c->begin > r->end + r->span.hi)
			break;
		if (c->links != JOIN_NONE || c->size != r->size || !join_fits(r->kind, c->kind) || !can_have(r, c))
			continue;
		if (fits)
			fits[i]++;
		*one = i;
		nr++;
	}
	return nr;
}

static bool is_by_size(const struct join_request *r)
{
	return r->match == MATCH_NOT && r->kind != JOIN_FLUSH && r->size &&
	       (r->reason == REASON_AMBIGUOUS || r->reason == REASON_NO_PLACE);
}

static void match_by_size(struct join *j)
{
	__u32 *fits = xreallocarray(NULL, j->nr_calls, sizeof(*fits));
	__u32 *only = xreallocarray(NULL, j->nr_requests, sizeof(*only)), one;
	size_t i, nr;

	memset(fits, 0, j->nr_calls * sizeof(*fits));
	for (i = 0; i < j->nr_requests; i++) {
		only[i] = JOIN_NONE;
		if (!is_by_size(&j->requests[i]))
			continue;
		nr = calls_of_size(j, &j->requests[i], fits, &one);
		if (nr == 1)
			only[i] = one;
		else if (!nr && j->requests[i].reason == REASON_AMBIGUOUS)
			j->requests[i].reason = is_outside(j, &j->requests[i]) ? REASON_OUTSIDE : REASON_NO_CALL;
	}
	for (i = 0; i < j->nr_requests; i++) {
		if (only[i] == JOIN_NONE || fits[only[i]] != 1)
			continue;
		take(j, i, only[i], false);
		j->requests[i].match = MATCH_SIZE;
		j->requests[i].reason = REASON_NONE;
	}
	free(only);
	free(fits);
}

/* --- 3. flushes ------------------------------------------------------------------------- */

/* The first candidate of the flush, or JOIN_NONE. @shared: it may be assigned to another flush. */
static __u32 find_sync(const struct join *j, const struct join_request *r, bool shared)
{
	size_t i;

	for (i = join_first_call(j, r->begin + r->span.lo); i < j->nr_calls; i++) {
		const struct join_call *c = &j->calls[i];

		if (c->begin > r->end + r->span.hi)
			break;
		if (c->kind == CALL_SYNC && (shared || c->links == JOIN_NONE) && can_have(r, c))
			return i;
	}
	return JOIN_NONE;
}

static void match_flush(struct join *j, __u32 request)
{
	struct join_request *r = &j->requests[request];
	__u32 call = find_sync(j, r, false);

	if (call == JOIN_NONE)
		call = find_sync(j, r, true);
	if (call != JOIN_NONE) {
		take(j, request, call, false);
		r->match = MATCH_ORDER;
	} else {
		r->reason = is_outside(j, r) ? REASON_OUTSIDE : REASON_NO_SYNC;
	}
}

/* --- 4. other calls --------------------------------------------------------------------- */

/* Requests that may be in the device when a call begins. */
struct running {
	__u32 *at;
	size_t nr, room;
	size_t next;		/* the next request to be added */
	__s64 widest;		/* widest span of a window: a request may begin this much later */
};

static void advance(const struct join *j, struct running *running, __s64 begin)
{
	size_t i, kept = 0;

	for (; running->next < j->nr_requests; running->next++) {
		const struct join_request *r = &j->requests[running->next];

		if (r->begin + r->span.lo > begin + running->widest)
			break;
		if (running->nr == running->room) {
			running->room = running->room ? 2 * running->room : 64;
			running->at = xreallocarray(running->at, running->room, sizeof(*running->at));
		}
		running->at[running->nr++] = running->next;
	}
	for (i = 0; i < running->nr; i++) {
		const struct join_request *r = &j->requests[running->at[i]];

		if (r->end + r->span.hi >= begin)
			running->at[kept++] = running->at[i];
	}
	running->nr = kept;
}

/* The only request during which the call can have happened, or JOIN_NONE. */
static __u32 only_request(const struct join *j, const struct running *running, const struct join_call *c)
{
	__u32 only = JOIN_NONE;
	size_t i;

	for (i = 0; i < running->nr; i++) {
		const struct join_request *r = &j->requests[running->at[i]];

		if (r->early || !can_have(r, c))
			continue;
		if (only != JOIN_NONE)
			return JOIN_NONE;
		only = running->at[i];
	}
	return only;
}

static void take_others(struct join *j)
{
	struct running running = { 0 };
	__u32 i, only;
	size_t w;

	for (w = 0; w < j->nr_windows; w++) {
		const struct join_window *window = &j->windows[w];
		struct join_span span = join_span_at(j, window, window->time + JOIN_WINDOW_NS);

		if (span.hi - span.lo > running.widest)
			running.widest = span.hi - span.lo;
	}
	for (i = 0; i < j->nr_calls; i++) {
		if (j->calls[i].links != JOIN_NONE)
			continue;
		advance(j, &running, j->calls[i].begin);
		only = only_request(j, &running, &j->calls[i]);
		if (only != JOIN_NONE && j->requests[only].links != JOIN_NONE)
			take(j, only, i, true);
	}
	free(running.at);
}

/* Whether the window is lost, or next to a lost one: the step is in one of these. */
static bool is_near_lost(const struct join *j, size_t w)
{
	return j->windows[w].lost || (w && j->windows[w - 1].lost) ||
	       (w + 1 < j->nr_windows && j->windows[w + 1].lost);
}

static void explain(struct join *j, const struct join_window *w, const struct join_step *step)
{
	size_t i;

	for (i = w->first; i < w->first + w->nr; i++) {
		struct join_request *r = &j->requests[i];

		if (r->match == MATCH_NOT && (r->reason == REASON_NO_CALL || r->reason == REASON_NO_SYNC) &&
		    (!step || (r->end >= step->time && r->begin <= step->until)))
			r->reason = REASON_STEP;
	}
}

/* Sets the reason of requests without a call where the clocks step, or the offset is not known. */
static void explain_steps(struct join *j)
{
	const struct join_window *w = j->windows, *end = w + j->nr_windows, *last = NULL, *between;
	struct join_step step;

	for (; w < end; w++) {
		if (is_near_lost(j, w - j->windows))
			explain(j, w, NULL);
		if (!w->agreed)
			continue;
		if (last && join_step_between(j, last, w, &step))
			for (between = last; between <= w; between++)
				explain(j, between, &step);
		last = w;
	}
}

void join_match_all(struct join *j)
{
	size_t w, i;

	for (w = 0; w < j->nr_windows; w++)
		for (i = j->windows[w].first; i < j->windows[w].first + j->windows[w].nr; i++) {
			struct join_request *r = &j->requests[i];

			r->span = join_span_at(j, &j->windows[w], r->begin);
			if (r->early)
				r->reason = REASON_EARLY;
			else if (r->kind != JOIN_FLUSH)
				match_data(j, i);
		}
	match_by_size(j);
	for (i = 0; i < j->nr_requests; i++)
		if (j->requests[i].kind == JOIN_FLUSH && !j->requests[i].early)
			match_flush(j, i);
	take_others(j);
	explain_steps(j);
}
