// SPDX-License-Identifier: GPL-2.0
/*
 * Format msr: the CSV of the MSR Cambridge traces, which simulators of caches and disks read. A line for
 * each read and write of category block, in the order in which they were made, without a header:
 *
 *	128166372003061629,web,0,Read,7014609920,24576,41286
 *
 * They are: time in units of 100 ns since 1601, host, number of the disk, Read or Write, offset and size
 * in bytes, response time in units of 100 ns.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/csv.h"
#include "base/put.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "trace/anonymize.h"
#include "trace/exporter.h"
#include "trace/intern.h"
#include "trace/sorter.h"
#include "trace/sources.h"

#define TICK_NS		100ULL
#define TICKS_TO_1970	116444736000000000ULL	/* from 1601 */
#define SECTOR		512ULL
#define DISKS_SHOWN	16

struct item {
	struct sorter_key key;	/* of one group; the time is when the request was made */
	__u64 offset, size, latency;
	__u32 disk;
	__u32 is_write;
};

struct disk {
	char *host;		/* as it is written */
	char *name;		/* as it is shown */
};

struct state {
	struct sorter sorter;
	struct intern numbers;	/* of host and name of a disk */
	struct disk *disks;
	size_t room;
};

static void open_msr(struct exporter *x)
{
	struct state *s = xreallocarray(NULL, 1, sizeof(*s));

	*s = (struct state){ .room = 0 };
	sorter_open(&s->sorter, sizeof(struct item), 0);
	x->state = s;
}

/* The host as CSV, allocated; that of a merged trace is escaped and hashed already. */
static char *host_of(const struct exporter *x)
{
	char hidden[ANONYMOUS_LENGTH], *shown, *quoted;
	const char *host = x->source ? x->source->host : x->host;

	if (x->anonymizer && !x->source) {
		anonymize_word(x->anonymizer, hidden, "host", host, strlen(host));
		shown = text_show(hidden, sizeof(hidden));
	} else {
		shown = x->source ? xstrdup(host) : text_show(host, strlen(host));
	}
	quoted = xreallocarray(NULL, 4 * strlen(shown) + 3, 1);
	*csv_put(quoted, shown, strlen(shown)) = '\0';
	free(shown);
	return quoted;
}

static __u32 disk_of(const struct exporter *x, const struct iot_block *b)
{
	struct {
		const struct source *source;
		char name[sizeof(b->disk)];
	} key = { .source = x->source };
	struct state *s = x->state;
	__u32 number;

	memcpy(key.name, b->disk, strnlen(b->disk, sizeof(b->disk)));
	number = intern_add(&s->numbers, &key, sizeof(key));
	if (number < s->room)
		return number;
	s->room = number + 1;
	s->disks = xreallocarray(s->disks, s->room, sizeof(*s->disks));
	s->disks[number] = (struct disk){
		host_of(x), text_show(b->disk, strnlen(b->disk, sizeof(b->disk)))
	};
	return number;
}

static bool take(struct exporter *x, const void *record)
{
	const struct iot_block *b = record;
	struct state *s = x->state;
	struct item item = {
		.key.time = b->time, .offset = b->sector * SECTOR, .size = b->requested,
		.latency = b->latency, .is_write = b->op != IOT_BLOCK_READ,
	};

	if (b->op != IOT_BLOCK_READ && b->op != IOT_BLOCK_WRITE && b->op != IOT_BLOCK_ZONE_APPEND)
		return exporter_leave_op(x, b->op);
	if (b->flags & IOT_REQ_EARLY)
		return exporter_leave(x, LEFT_EARLY);
	if (b->result < 0 || !b->requested)
		return exporter_leave(x, LEFT_FAILED);
	if (b->sector > ~0ULL / SECTOR)
		return exporter_leave(x, LEFT_RANGE);
	item.disk = disk_of(x, b);
	return sorter_add(&s->sorter, &item);
}

static char *put_line(const struct exporter *x, char *out, const struct item *i)
{
	const struct state *s = x->state;
	const char *host = s->disks[i->disk].host;
	const char *type = i->is_write ? ",Write," : ",Read,";

	out = put_u64(out, wall_time(x->clock, i->key.time) / TICK_NS + TICKS_TO_1970);
	*out++ = ',';
	out = put_bytes(out, host, strlen(host));
	*out++ = ',';
	out = put_u64(out, i->disk);
	out = put_bytes(out, type, strlen(type));
	out = put_u64(out, i->offset);
	*out++ = ',';
	out = put_u64(out, i->size);
	*out++ = ',';
	out = put_u64(out, i->latency / TICK_NS);
	*out++ = '\n';
	return out;
}

/* Reports which disk has which number. */
static void say_disks(const struct exporter *x)
{
	const struct state *s = x->state;
	size_t i;

	for (i = 0; i < s->room && i < DISKS_SHOWN; i++)
		cli_say_of(x->trace, "disk %zu is %s of %s", i, s->disks[i].name, s->disks[i].host);
}

static bool finish(struct exporter *x)
{
	struct state *s = x->state;
	const struct item *item = NULL;

	if (!sorter_finish(&s->sorter))
		return false;
	item = sorter_next(&s->sorter);
	if (!output_begin(x->output, item ? wall_time(x->clock, item->key.time) : x->begin))
		return false;
	for (; item; item = sorter_next(&s->sorter))
		if (!output_put(x->output, put_line(x, output_row(x->output), item)))
			return false;
	say_disks(x);
	return !s->sorter.failed;
}

static void close_msr(struct exporter *x)
{
	struct state *s = x->state;
	size_t i;

	for (i = 0; i < s->room; i++) {
		free(s->disks[i].host);
		free(s->disks[i].name);
	}
	free(s->disks);
	intern_free(&s->numbers);
	sorter_close(&s->sorter);
	free(s);
}

const struct export_format export_msr = {
	.name = "msr",
	.events = { IOT_EVENT_ID_BLOCK },
	.suffix = "csv",
	.open = open_msr,
	.take = take,
	.finish = finish,
	.close = close_msr,
};
