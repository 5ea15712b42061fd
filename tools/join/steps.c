// SPDX-License-Identifier: GPL-2.0
/*
 * Follows clocks that step: a guest's clock stops while the guest is paused, and either clock can be
 * set. After a step no request has a candidate at the time that clock.c expects.
 *
 * A stretch of windows is suspicious if fewer than half of its requests with candidates have one at
 * the expected time. Its offset is searched for again, as clock.c searches for the first one. An
 * offset on which enough requests agree is accepted if it keeps the order: what happened before the
 * step also happened first by the host's clock. It is then extended forward and back to the windows
 * in which more requests agree with it than with their present offset. A window in which the offset
 * changes is divided between two requests.
 *
 * A stretch for which no offset is found is marked as lost, which its requests report.
 */
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "join/join.h"

#define STEP_REQUESTS	8	/* with calls, half of which agree, at least */
#define LOST_REQUESTS	4	/* with calls only at other times */
#define STEPS_MAX	64

struct stretch {
	size_t first, end;	/* windows */
	size_t could;
};

static bool is_good(const struct join_window *w)
{
	return 2 * w->agreed >= w->could;
}

/* Finds the next stretch from window @from on. False if there is none. */
static bool next_stretch(const struct join *j, size_t from, struct stretch *s)
{
	size_t i;

	while (from < j->nr_windows && (is_good(&j->windows[from]) || j->windows[from].lost))
		from++;
	*s = (struct stretch){ .first = from, .end = from };
	for (i = from; i < j->nr_windows && (!j->windows[i].could || !is_good(&j->windows[i])); i++) {
		s->could += j->windows[i].could;
		if (j->windows[i].could)
			s->end = i + 1;
	}
	return s->first < s->end;
}

/* The nearest earlier window in which requests agree, or NULL. */
static const struct join_window *agreed_before(const struct join *j, size_t i)
{
	while (i-- > 0)
		if (j->windows[i].agreed)
			return &j->windows[i];
	return NULL;
}

static const struct join_window *agreed_after(const struct join *j, size_t i)
{
	for (; i < j->nr_windows; i++)
		if (j->windows[i].agreed)
			return &j->windows[i];
	return NULL;
}

static size_t end_of(const struct join_window *w)
{
	return w->first + w->nr;
}

/*
 * The limits for the times of a stretch's requests by the host's clock: after those of the windows
 * before it, and before those of the windows after it. The time of a window is in its middle.
 */
static struct join_span limit_of(const struct join *j, const struct stretch *s, __s64 *expected)
{
	const struct join_window *before = agreed_before(j, s->first), *after = agreed_after(j, s->end);
	struct join_span limit = { -(1LL << 62), 1LL << 62 };

	*expected = 0;
	if (after) {
		limit.hi = after->time + after->span.hi + JOIN_WINDOW_NS;
		*expected = join_span_middle(&after->span);
	}
	if (before) {
		limit.lo = before->time + before->span.lo - JOIN_WINDOW_NS;
		*expected = join_span_middle(&before->span);
	}
	return limit;
}

/* Adds the window to the segment of @from if more requests agree then. */
static bool take_window(struct join *j, const struct join_window *from, struct join_window *w)
{
	struct join_window mine = *w;

	mine.span = join_span_at(j, from, w->time);
	join_ask_window(j, &mine);
	if (w->agreed && mine.agreed <= w->agreed)
		return false;
	*w = mine;
	return w->agreed;
}

/* Extends an offset from a window through the stretch, and beyond while more requests agree. */
static void follow(struct join *j, size_t from, const struct stretch *s)
{
	const struct join_window *last = &j->windows[from];
	size_t i;

	for (i = from + 1; i < j->nr_windows; i++) {
		if (take_window(j, last, &j->windows[i]))
			last = &j->windows[i];
		else if (i >= s->end && j->windows[i].could)
			break;
	}
	last = &j->windows[from];
	for (i = from; i-- > 0;) {
		if (take_window(j, last, &j->windows[i]))
			last = &j->windows[i];
		else if (i < s->first && j->windows[i].could)
			break;
	}
}

static size_t window_at(const struct join *j, const struct stretch *s, __s64 time)
{
	size_t i = s->first;

	while (i + 1 < s->end && j->requests[j->windows[i + 1].first].begin <= time)
		i++;
	return i;
}

static size_t sum_of_agreed(const struct join *j)
{
	size_t i, sum = 0;

	for (i = 0; i < j->nr_windows; i++)
		sum += j->windows[i].agreed;
	return sum;
}

/* Finds the offset of a stretch, and sets it in its windows. False if there is none. */
static bool solve(struct join *j, const struct stretch *s)
{
	size_t before = sum_of_agreed(j), first = j->windows[s->first].first;
	struct join_window from;
	struct join_span limit;
	__s64 expected;
	size_t at;

	if (s->could < STEP_REQUESTS)
		return false;
	limit = limit_of(j, s, &expected);
	if (!join_find_offset(j, first, end_of(&j->windows[s->end - 1]), limit, expected, &from) ||
	    2 * from.agreed < STEP_REQUESTS)
		return false;
	at = window_at(j, s, from.time);
	j->windows[at].agreed = 0;
	take_window(j, &from, &j->windows[at]);
	follow(j, at, s);
	return sum_of_agreed(j) > before;
}

/* --- the place of a step --------------------------------------------------------------- */

static bool agrees(struct join *j, size_t request, const struct join_window *segment)
{
	struct join_window one = { .first = request, .nr = 1, .time = j->requests[request].begin };

	one.span = join_span_at(j, segment, one.time);
	join_ask_window(j, &one);
	return one.agreed;
}

/* The number of the window's requests to leave to the earlier segment, so that the most agree. */
static size_t place_of_step(struct join *j, const struct join_window *w, const struct join_window *a,
			    const struct join_window *b)
{
	size_t i, best = 0, most;
	long votes = 0, best_votes;

	for (i = 0; i < w->nr; i++)
		votes += agrees(j, w->first + i, b);
	best_votes = votes;
	for (i = 0; i < w->nr; i++) {
		votes += (long)agrees(j, w->first + i, a) - (long)agrees(j, w->first + i, b);
		most = i + 1;
		if (votes > best_votes) {
			best_votes = votes;
			best = most;
		}
	}
	return best;
}

static void insert_window(struct join *j, size_t i)
{
	j->windows = xreallocarray(j->windows, j->nr_windows + 1, sizeof(*j->windows));
	memmove(&j->windows[i + 1], &j->windows[i], (j->nr_windows - i) * sizeof(*j->windows));
	j->nr_windows++;
}

/* Makes window @i a part of a window, with the offset of a segment. */
static void cut(struct join *j, size_t i, size_t first, size_t nr, const struct join_window *segment)
{
	struct join_window *w = &j->windows[i];

	*w = (struct join_window){
		.first = first, .nr = nr, .time = j->requests[first].begin,
	};
	w->span = join_span_at(j, segment, w->time);
	join_ask_window(j, w);
}

/* Divides window @i. Returns the number of windows added. */
static size_t divide(struct join *j, size_t i, struct join_window a, struct join_window b)
{
	const struct join_window w = j->windows[i];
	size_t n = place_of_step(j, &w, &a, &b);

	if (!n || n == w.nr) {
		cut(j, i, w.first, w.nr, n ? &a : &b);
		return 0;
	}
	insert_window(j, i + 1);
	cut(j, i, w.first, n, &a);
	cut(j, i + 1, w.first + n, w.nr - n, &b);
	return 1;
}

bool join_step_between(const struct join *j, const struct join_window *a, const struct join_window *b,
		       struct join_step *step)
{
	struct join_span expected = join_span_at(j, a, b->time), both = join_span_and(expected, b->span);

	*step = (struct join_step){
		.time = j->requests[end_of(a) - 1].begin, .until = j->requests[b->first].begin,
		.by = join_span_middle(&b->span) - join_span_middle(&a->span),
	};
	return join_span_is_empty(&both);
}

/* Divides each window at a border, and those between in which no request agrees. */
static void divide_all(struct join *j)
{
	size_t i, last = j->nr_windows, k;
	struct join_step step;

	for (i = 0; i < j->nr_windows; i++) {
		struct join_window a, b;

		if (!j->windows[i].agreed)
			continue;
		if (last < i && join_step_between(j, &j->windows[last], &j->windows[i], &step)) {
			a = j->windows[last];
			b = j->windows[i];
			for (k = last; k <= i; k++) {
				size_t more = divide(j, k, a, b);

				k += more;
				i += more;
			}
		}
		last = i;
	}
}

void join_follow_steps(struct join *j)
{
	size_t from = 0, steps = 0, i;
	struct stretch s;

	while (next_stretch(j, from, &s)) {
		if (steps < STEPS_MAX && solve(j, &s)) {
			steps++;
			from = s.first;
			continue;
		}
		for (i = s.first; i < s.end; i++)
			j->windows[i].lost = s.could >= LOST_REQUESTS && !j->windows[i].agreed;
		from = s.end;
	}
	if (steps)
		divide_all(j);
}
