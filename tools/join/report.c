// SPDX-License-Identifier: GPL-2.0
/* The summary of a join. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/put.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "join/join.h"

#define NS_PER_S 1000000000LL

static const char *const reasons[JOIN_REASONS] = {
	[REASON_NONE] = "",
	[REASON_EARLY] = "it began before the guest's trace",
	[REASON_OUTSIDE] = "the host's trace does not cover its time",
	[REASON_NO_CALL] = "no call on its bytes happened during its time",
	[REASON_STEP] = "calls on its bytes happened only at other times: was a clock set, or the guest paused?",
	[REASON_PART] = "calls cover only some of its bytes",
	[REASON_NO_PLACE] = "the image does not store its bytes now",
	[REASON_AMBIGUOUS] = "without the image, other calls or requests fit as well",
	[REASON_NO_SYNC] = "no sync happened during its time",
};

const char *join_reason(enum join_reason reason)
{
	return reasons[reason];
}

static const char *const names_of_kinds[JOIN_KINDS] = {
	[JOIN_READ] = "read", [JOIN_WRITE] = "write", [JOIN_DISCARD] = "discard",
	[JOIN_ZEROES] = "zeroes", [JOIN_FLUSH] = "flush",
};

/* --- sums ------------------------------------------------------------------------------ */

enum part {
	PART_LATENCY, PART_QUEUE, PART_BEFORE, PART_HOST, PART_AFTER, PART_CALL, PART_BELOW, PARTS
};

static const struct {
	const char *name, *text;
} parts[PARTS] = {
	[PART_LATENCY] = { "latency_ns", "latency" },
	[PART_QUEUE] = { "queue_latency_ns", "guest's queue" },
	[PART_BEFORE] = { "qemu_before_ns", "QEMU, before" },
	[PART_HOST] = { "host_ns", "host" },
	[PART_AFTER] = { "qemu_after_ns", "QEMU, after" },
	[PART_CALL] = { "host_call_ns", "  in its calls" },
	[PART_BELOW] = { "host_request_ns", "  in its requests" },
};

/* The requests of a kind that have calls. */
struct sums {
	__u64 *at[PARTS];
	size_t nr;
	size_t matches[MATCH_ORDER + 1];
	size_t all;
};

static void note_parts(const struct join *j, const struct join_request *r, struct sums *s)
{
	struct join_parts p;

	join_parts_of(j, r, &p);
	s->at[PART_LATENCY][s->nr] = r->latency;
	s->at[PART_QUEUE][s->nr] = r->queue;
	s->at[PART_BEFORE][s->nr] = p.before;
	s->at[PART_HOST][s->nr] = p.host;
	s->at[PART_AFTER][s->nr] = p.after;
	s->at[PART_CALL][s->nr] = p.call;
	s->at[PART_BELOW][s->nr] = p.below;
	s->nr++;
}

static int by_value(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void sum_up(const struct join *j, enum join_kind kind, struct sums *s)
{
	size_t i;

	*s = (struct sums){ 0 };
	for (i = 0; i < j->nr_requests; i++) {
		s->all += j->requests[i].kind == kind;
		if (j->requests[i].kind == kind)
			s->matches[j->requests[i].match]++;
	}
	for (i = 0; i < PARTS; i++)
		s->at[i] = xreallocarray(NULL, s->all, sizeof(__u64));
	for (i = 0; i < j->nr_requests; i++)
		if (j->requests[i].kind == kind && j->requests[i].links != JOIN_NONE)
			note_parts(j, &j->requests[i], s);
	for (i = 0; i < PARTS && s->nr; i++)
		qsort(s->at[i], s->nr, sizeof(__u64), by_value);
}

static void free_sums(struct sums *s)
{
	size_t i;

	for (i = 0; i < PARTS; i++)
		free(s->at[i]);
}

/* The smallest value that at least @percent % of the values do not exceed. There is a value. */
static __u64 percentile(const struct sums *s, enum part which, unsigned int percent)
{
	return s->at[which][(s->nr * percent + 99) / 100 - 1];
}

static double mean(const struct sums *s, enum part which)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < s->nr; i++)
		sum += s->at[which][i];
	return sum / s->nr;
}

static size_t calls_of_none(const struct join *j)
{
	size_t i, nr = 0;

	for (i = 0; i < j->nr_calls; i++)
		nr += j->calls[i].links == JOIN_NONE;
	return nr;
}

/* A part of the trace in which the clocks do not step: from one window to another. */
struct segment {
	const struct join_window *first, *last;	/* in which requests determine the offset */
	struct join_step step;			/* that ends it, if another one follows */
};

/* Calls @act for each segment. Returns their number. */
static size_t for_segments(const struct join *j, void (*act)(const struct segment *s, bool last, void *data),
			   void *data)
{
	struct segment s = { 0 };
	struct join_step step;
	size_t i, nr = 0;

	for (i = 0; i < j->nr_windows; i++) {
		const struct join_window *w = &j->windows[i];

		if (!w->agreed)
			continue;
		if (s.last && join_step_between(j, s.last, w, &step)) {
			s.step = step;
			act(&s, false, data);
			nr++;
			s.first = NULL;
		}
		if (!s.first)
			s.first = w;
		s.last = w;
	}
	if (s.first)
		act(&s, true, data);
	return nr + !!s.first;
}

/* Half the width of the widest span of a request that was matched. */
static __u64 error_of(const struct join *j)
{
	__u64 widest = 0;
	size_t i;

	for (i = 0; i < j->nr_requests; i++) {
		const struct join_request *r = &j->requests[i];

		if (r->links != JOIN_NONE && (__u64)(r->span.hi - r->span.lo) > widest)
			widest = r->span.hi - r->span.lo;
	}
	return (widest + 1) / 2;
}

static double drift_of(const struct join_window *first, const struct join_window *last)
{
	__s64 time = last->time - first->time;

	if (time <= 0)
		return 0;
	return 1e6 * (double)(join_span_middle(&last->span) - join_span_middle(&first->span)) / (double)time;
}

/* --- as text ------------------------------------------------------------------------------ */

static void print_segment(const struct segment *s, bool last, void *data)
{
	char from[PUT_UTC], until[PUT_UTC];
	bool *more = data;

	printf("%-12sthe host's clock is ahead by %lld to %lld ns, at the end by %lld to %lld ns (drift %.2f ppm);\n",
	       *more ? "" : "clock", s->first->span.lo, s->first->span.hi, s->last->span.lo, s->last->span.hi,
	       drift_of(s->first, s->last));
	*more = true;
	if (last)
		return;
	*put_utc(from, s->step.time / NS_PER_S, s->step.time % NS_PER_S) = '\0';
	*put_utc(until, s->step.until / NS_PER_S, s->step.until % NS_PER_S) = '\0';
	printf("            then it steps by %+lld ns: a clock was set, or the guest was paused,\n"
	       "            from %s to %s;\n", s->step.by, from, until);
}

static void print_clock(const struct join *j)
{
	bool more = false;

	if (for_segments(j, print_segment, &more))
		printf("            parts of matched requests are exact to %llu ns\n", error_of(j));
}

static void print_counts(const struct sums *all)
{
	size_t kind;

	printf("\n%-10s%12s%12s%12s%16s\n", "", "requests", "matched", "not needed", "not matched");
	for (kind = 0; kind < JOIN_KINDS; kind++) {
		const struct sums *s = &all[kind];

		if (s->all)
			printf("%-10s%12zu%12zu%12zu%16zu\n", names_of_kinds[kind], s->all,
			       s->all - s->matches[MATCH_NOT] - s->matches[MATCH_ZERO],
			       s->matches[MATCH_ZERO], s->matches[MATCH_NOT]);
	}
}

static size_t nr_of_reason(const struct join *j, size_t kind, size_t reason)
{
	size_t i, nr = 0;

	for (i = 0; i < j->nr_requests; i++) {
		const struct join_request *r = &j->requests[i];

		nr += r->match == MATCH_NOT && r->kind == kind && r->reason == reason;
	}
	return nr;
}

static void print_reasons(const struct join *j)
{
	size_t kind, reason;

	for (kind = 0; kind < JOIN_KINDS; kind++)
		for (reason = 1; reason < JOIN_REASONS; reason++) {
			size_t nr = nr_of_reason(j, kind, reason);

			if (nr)
				printf("not matched: %zu of %s: %s\n", nr, names_of_kinds[kind], reasons[reason]);
		}
}

static void print_parts(const struct join *j, const struct sums *s, const char *kind)
{
	size_t i;

	if (!s->nr)
		return;
	printf("\n%-20s%12s%12s%12s%12s%12s  us\n", kind, "mean", "p50", "p90", "p99", "max");
	for (i = 0; i < PARTS; i++)
		if (i != PART_BELOW || j->has_below)
			printf("%-20s%12.1f%12.1f%12.1f%12.1f%12.1f\n", parts[i].text, mean(s, i) / 1e3,
			       percentile(s, i, 50) / 1e3, percentile(s, i, 90) / 1e3,
			       percentile(s, i, 99) / 1e3, percentile(s, i, 100) / 1e3);
}

static const struct join *sorted;	/* of by_latency() */

static int by_latency(const void *a, const void *b)
{
	const struct join_request *x = &sorted->requests[*(const __u32 *)a];
	const struct join_request *y = &sorted->requests[*(const __u32 *)b];

	if (x->latency != y->latency)
		return x->latency > y->latency ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void print_one(const struct join *j, const struct join_request *r)
{
	const struct name *name = names_find(&j->guest.names, r->path);
	const char *path = name ? name->text : r->path ? "?" : "-";
	struct join_parts p;
	char time[PUT_UTC];

	*put_utc(time, r->time / NS_PER_S, r->time % NS_PER_S) = '\0';
	printf("%s %-8s%14llu%9llu", time, names_of_kinds[r->kind], 512 * r->sector, r->size);
	join_parts_of(j, r, &p);
	printf("%11.1f%11.1f", r->latency / 1e3, r->queue / 1e3);
	if (r->links != JOIN_NONE)
		printf("%11.1f%11.1f%11.1f%6u  %s\n", p.before / 1e3, p.host / 1e3, p.after / 1e3,
		       p.calls + p.others, path);
	else
		printf("%11s%11s%11s%6s  %s\n", "-", "-", "-", "-", path);
}

static void print_slowest(const struct join *j, size_t nr)
{
	__u32 *order = xreallocarray(NULL, j->nr_requests, sizeof(*order));
	size_t i;

	for (i = 0; i < j->nr_requests; i++)
		order[i] = i;
	sorted = j;
	qsort(order, j->nr_requests, sizeof(*order), by_latency);
	if (nr)
		printf("\n%-30s %-8s%14s%9s%11s%11s%11s%11s%11s%6s  %s\n", "slowest (us)", "op", "offset",
		       "bytes", "latency", "queue", "before", "host", "after", "calls", "path");
	for (i = 0; i < nr && i < j->nr_requests; i++)
		print_one(j, &j->requests[order[i]]);
	free(order);
}

void join_print(const struct join *j, size_t slowest)
{
	char *guest = text_show(j->guest.named, strlen(j->guest.named));
	char *host = text_show(j->host.named, strlen(j->host.named));
	char *disk = text_show(j->disk, strlen(j->disk)), *drive = text_show(j->image.name, strlen(j->image.name));
	struct sums all[JOIN_KINDS];
	size_t i;

	printf("guest       %s: disk %s, %zu requests\n", guest, disk, j->nr_requests);
	printf("host        %s: drive %s, %zu calls of QEMU, %zu of which belong to no request\n", host, drive,
	       j->nr_calls, calls_of_none(j));
	print_clock(j);
	for (i = 0; i < JOIN_KINDS; i++)
		sum_up(j, i, &all[i]);
	print_counts(all);
	print_reasons(j);
	for (i = 0; i < JOIN_KINDS; i++)
		print_parts(j, &all[i], names_of_kinds[i]);
	print_slowest(j, slowest);
	for (i = 0; i < JOIN_KINDS; i++)
		free_sums(&all[i]);
	free(drive);
	free(disk);
	free(host);
	free(guest);
}

/* --- as JSON ------------------------------------------------------------------------------ */

static json_t *json_part(const struct sums *s, enum part which)
{
	json_t *object = json_object();

	json_put(object, "mean", json_real(mean(s, which)));
	json_put(object, "p50", json_integer(percentile(s, which, 50)));
	json_put(object, "p90", json_integer(percentile(s, which, 90)));
	json_put(object, "p99", json_integer(percentile(s, which, 99)));
	json_put(object, "max", json_integer(percentile(s, which, 100)));
	return object;
}

static json_t *json_kind(const struct join *j, enum join_kind kind)
{
	json_t *object = json_object(), *why = json_object();
	struct sums s;
	size_t i;

	sum_up(j, kind, &s);
	json_put(object, "requests", json_integer(s.all));
	json_put(object, "matched", json_integer(s.all - s.matches[MATCH_NOT] - s.matches[MATCH_ZERO]));
	json_put(object, "not_needed", json_integer(s.matches[MATCH_ZERO]));
	json_put(object, "not_matched", json_integer(s.matches[MATCH_NOT]));
	for (i = 1; i < JOIN_REASONS; i++)
		if (nr_of_reason(j, kind, i))
			json_put(why, reasons[i], json_integer(nr_of_reason(j, kind, i)));
	json_put(object, "reasons", why);
	for (i = 0; i < PARTS && s.nr; i++)
		if (i != PART_BELOW || j->has_below)
			json_put(object, parts[i].name, json_part(&s, i));
	free_sums(&s);
	return object;
}

static json_t *json_window(const struct join_window *w)
{
	json_t *object = json_object();
	char text[PUT_UTC];

	*put_utc(text, w->time / NS_PER_S, w->time % NS_PER_S) = '\0';
	json_put(object, "time", json_string(text));
	json_put(object, "lo_ns", json_integer(w->span.lo));
	json_put(object, "hi_ns", json_integer(w->span.hi));
	return object;
}

static void add_segment(const struct segment *s, bool last, void *data)
{
	json_t *object = json_object();
	char text[PUT_UTC];

	json_put(object, "first", json_window(s->first));
	json_put(object, "last", json_window(s->last));
	json_put(object, "drift_ppm", json_real(drift_of(s->first, s->last)));
	if (!last) {
		*put_utc(text, s->step.time / NS_PER_S, s->step.time % NS_PER_S) = '\0';
		json_put(object, "step_after", json_string(text));
		*put_utc(text, s->step.until / NS_PER_S, s->step.until % NS_PER_S) = '\0';
		json_put(object, "step_before", json_string(text));
		json_put(object, "step_ns", json_integer(s->step.by));
	}
	json_add(data, object);
}

/* The first and last window of the trace, and its drift if the clocks do not step. */
static json_t *json_clock(const struct join *j)
{
	json_t *object = json_object(), *segments = json_array(), *first, *last;
	size_t nr = for_segments(j, add_segment, segments);

	if (nr) {
		first = json_array_get(segments, 0);
		last = json_array_get(segments, nr - 1);
		json_put(object, "first", json_incref(json_object_get(first, "first")));
		json_put(object, "last", json_incref(json_object_get(last, "last")));
		json_put(object, "drift_ppm", nr == 1 ? json_incref(json_object_get(first, "drift_ppm")) : json_null());
		json_put(object, "error_ns", json_integer(error_of(j)));
	}
	json_put(object, "segments", segments);
	return object;
}

void join_print_json(const struct join *j)
{
	json_t *object = json_object();
	size_t i;

	json_put(object, "guest", json_shown(j->guest.named));
	json_put(object, "host", json_shown(j->host.named));
	json_put(object, "disk", json_shown(j->disk));
	json_put(object, "drive", json_shown(j->image.name));
	json_put(object, "calls", json_integer(j->nr_calls));
	json_put(object, "calls_of_no_request", json_integer(calls_of_none(j)));
	json_put(object, "clock", json_clock(j));
	for (i = 0; i < JOIN_KINDS; i++)
		json_put(object, names_of_kinds[i], json_kind(j, i));
	json_print(object);
}
