// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "trace/profile.h"

#define SECTOR_SHIFT 9

static struct profile_access *new_access(struct profile_kind *kind)
{
	if (kind->accesses == kind->room) {
		kind->room = kind->room ? 2 * kind->room : 1024;
		kind->all = xreallocarray(kind->all, kind->room, sizeof(*kind->all));
	}
	return &kind->all[kind->accesses++];
}

static void add(struct profile_part *part, const struct profile_access *access)
{
	part->accesses++;
	part->bytes += access->bytes;
}

static void count_submission(struct profile_kind *kind, const struct iot_io *io)
{
	if (!(io->flags & IOT_IO_ASYNC))
		return;
	if (io->flags & IOT_IO_COMPLETED)
		kind->queued++;
	else
		kind->submitted++;
	kind->submission_sum += io->submission;
}

static void count_access(struct profile_kind *kind, const struct iot_io *io)
{
	bool blk = io->level == IOT_LEVEL_BLK;
	__u64 start = blk ? io->sector : io->offset;
	__u64 length = blk ? io->result >> SECTOR_SHIFT : io->result;
	struct profile_access *access = new_access(kind);

	*access = (struct profile_access) {
		.start = start,
		.end = start + length,
		.bytes = io->result,
		.latency = io->latency,
		.pid = io->pid,
	};
	if (access > kind->all && start == access[-1].end)
		add(&kind->strict.sequential, access);
	else if (access > kind->all)
		add(&kind->strict.random, access);
	count_submission(kind, io);
	kind->latency_sum += io->latency;
	kind->bytes += io->result;
}

void profile_count(struct profile *p, const struct iot_io *io)
{
	struct profile_level *level;

	if (io->level >= IOT_LEVELS || io->op >= PROFILE_KINDS)
		return;
	level = &p->levels[io->level];
	if (!level->events)
		level->first = io->time;
	level->events++;
	level->last = io->time;
	if (io->result < 0)
		level->failed++;
	else if (!io->result)
		level->empty++;
	else
		count_access(&level->kinds[io->op], io);
}

/*
 * A reference to an access in one of two orders: by its end, or by its process; then by time.
 * position counts the accesses in order of time.
 */
struct position {
	__u64 key;
	size_t position;
};

static int compare(__u64 x, __u64 y)
{
	return x < y ? -1 : x > y;
}

static int compare_latencies(const void *a, const void *b)
{
	return compare(*(const __u64 *)a, *(const __u64 *)b);
}

static int compare_positions(const void *a, const void *b)
{
	const struct position *x = a, *y = b;
	int by_key = compare(x->key, y->key);

	return by_key ? by_key : compare(x->position, y->position);
}

static struct position *sort_positions(const struct profile_kind *kind, bool by_process)
{
	struct position *sorted = xreallocarray(NULL, kind->accesses, sizeof(*sorted));
	size_t i;

	for (i = 0; i < kind->accesses; i++)
		sorted[i] = (struct position) {
			by_process ? kind->all[i].pid : kind->all[i].end, i
		};
	qsort(sorted, kind->accesses, sizeof(*sorted), compare_positions);
	return sorted;
}

/* Mark the short accesses (probes) with which processes begin, and the access after them. */
static void mark_probes(struct profile_kind *kind)
{
	struct position *sorted = sort_positions(kind, true);
	bool probing = false;	/* all accesses of the process so far were probes */
	size_t i, first = 0;	/* first: of the process */

	for (i = 0; i < kind->accesses; i++) {
		struct profile_access *access = &kind->all[sorted[i].position];

		if (!i || sorted[i].key != sorted[i - 1].key) {
			first = i;
			probing = true;
		}
		access->has_no_past = probing && i > first;
		probing = probing && i < first + PROFILE_PROBES && access->bytes < PROFILE_PROBE;
		access->has_no_past |= probing;
	}
	free(sorted);
}

/* Whether one of the accesses within the window around number i ended where that one starts. */
static bool continues(const struct profile_kind *kind, const struct position *by_end, size_t i,
		      size_t window)
{
	const struct position wanted = { kind->all[i].start, i > window ? i - window : 0 };
	size_t low = 0, high = kind->accesses;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_positions(&by_end[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < kind->accesses && by_end[low].position == i)
		low++; /* access number i itself has no length */
	return low < kind->accesses && by_end[low].key == wanted.key &&
	       by_end[low].position <= i + window;
}

static void count_window(struct profile_kind *kind, size_t window)
{
	struct position *by_end = sort_positions(kind, false);
	size_t i;

	mark_probes(kind);
	for (i = 0; i < kind->accesses; i++) {
		if (continues(kind, by_end, i, window))
			add(&kind->window.sequential, &kind->all[i]);
		else if (i && !kind->all[i].has_no_past)
			add(&kind->window.random, &kind->all[i]);
	}
	free(by_end);
}

static void sort_latencies(struct profile_kind *kind)
{
	size_t i;

	kind->latencies = xreallocarray(NULL, kind->accesses, sizeof(*kind->latencies));
	for (i = 0; i < kind->accesses; i++)
		kind->latencies[i] = kind->all[i].latency;
	qsort(kind->latencies, kind->accesses, sizeof(*kind->latencies), compare_latencies);
}

void profile_finish(struct profile *p, size_t window)
{
	unsigned int level, op;

	for (level = 0; level < IOT_LEVELS; level++) {
		for (op = 0; op < PROFILE_KINDS; op++) {
			struct profile_kind *kind = &p->levels[level].kinds[op];

			if (kind->accesses) {
				count_window(kind, window);
				sort_latencies(kind);
			}
			free(kind->all);
			kind->all = NULL;
		}
	}
}

void profile_free(struct profile *p)
{
	unsigned int level, op;

	for (level = 0; level < IOT_LEVELS; level++)
		for (op = 0; op < PROFILE_KINDS; op++)
			free(p->levels[level].kinds[op].latencies);
}

__u64 profile_percentile(const struct profile_kind *kind, unsigned int percent)
{
	__u64 rank = (kind->accesses * percent + 99) / 100;

	if (!kind->accesses)
		return 0;
	return kind->latencies[rank ? rank - 1 : 0];
}
