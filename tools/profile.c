// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "cli.h"
#include "profile.h"

#define SECTOR_SHIFT 9

static void count_latency(struct profile_kind *kind, __u64 latency)
{
	if (kind->accesses == kind->room) {
		kind->room = kind->room ? 2 * kind->room : 1024;
		kind->latencies = cli_grow(kind->latencies, kind->room,
					   sizeof(*kind->latencies));
	}
	kind->latencies[kind->accesses] = latency;
	kind->latency_sum += latency;
}

static void count_access(struct profile_kind *kind, const struct iot_io *io)
{
	bool blk = io->level == IOT_LEVEL_BLK;
	__u64 start = blk ? io->sector : io->offset;
	__u64 length = blk ? io->result >> SECTOR_SHIFT : io->result;

	if (kind->accesses && start == kind->next)
		kind->sequential++;
	else if (kind->accesses)
		kind->random++;
	count_latency(kind, io->latency);
	kind->accesses++;
	kind->bytes += io->result;
	kind->next = start + length;
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

static int compare(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

void profile_finish(struct profile *p)
{
	unsigned int level, op;

	for (level = 0; level < IOT_LEVELS; level++) {
		for (op = 0; op < PROFILE_KINDS; op++) {
			struct profile_kind *kind = &p->levels[level].kinds[op];

			if (kind->accesses)
				qsort(kind->latencies, kind->accesses,
				      sizeof(*kind->latencies), compare);
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
