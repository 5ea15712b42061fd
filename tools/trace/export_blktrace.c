// SPDX-License-Identifier: GPL-2.0
/*
 * Format blktrace: the files that blktrace(8) writes, DISK.blktrace.CPU, for blkparse, btt and iowatcher.
 *
 * Of a request they have the steps Q (queued), G (got a request) and, if it waited, I (inserted), all of
 * the time when it was made, D (issued to the driver) and C (completed). A bio of a device without
 * requests has Q and C, and a request that was made before the trace has C alone. All are of the process
 * that submitted it; blktrace has the one that the interrupt found at C.
 *
 * The kernel traces a whole disk, and so all steps have the number of the disk. A record has that of
 * its partition: see note_device().
 */
#include <stdlib.h>
#include <string.h>
#include <linux/blktrace_api.h>

#include "base/cli.h"
#include "base/put.h"
#include "base/text.h"
#include "base/wall.h"
#include "base/xalloc.h"
#include "trace/exporter.h"
#include "trace/intern.h"
#include "trace/sorter.h"

#define NS_PER_S	1000000000ULL
#define DISKS_MOST	4096
#define MAJOR_EXTENDED	259	/* numbers of a disk and its partitions may be anything */
#define MINOR_BITS	20
#define DISK_SHIFT	32	/* the group of an item is its disk and its CPU: a file */
#define NAME_MAX_BYTES	128	/* of a file */
#define KIND_MASK	(~0U << BLK_TC_SHIFT)	/* of an action, beside what the step is */

/* A step, and those of the same request at the same time that follow it. */
struct item {
	struct sorter_key key;
	union {
		__u64 sector;
		char comm[16];	/* of a process notice */
	};
	__u32 bytes;
	__u32 action;
	__u32 pid;
	__u16 error;
	bool gets, inserts;	/* G follows, and then I */
};

struct disk {
	char *name;		/* of its files */
	__u32 device;
	bool is_whole;		/* it is known to be that of the whole disk */
};

struct state {
	struct sorter sorter;
	struct intern names;	/* of disks */
	struct disk *disks;
	struct intern processes;	/* those of which a disk's files have a notice */
	__u64 first;		/* CLOCK_MONOTONIC ns: when the first step was */
	bool is_clipped;	/* a size did not fit */
};

static void open_blktrace(struct exporter *x)
{
	struct state *s = xreallocarray(NULL, 1, sizeof(*s));

	*s = (struct state){ .first = ~0ULL };
	sorter_open(&s->sorter, sizeof(struct item), 0);
	x->state = s;
}

/* The name of a disk as that of a file: the kernel's names have no other characters. */
static char *file_name_of(const char *disk, size_t size)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-!";
	char *name = xasprintf("%.*s", (int)size, *disk ? disk : "_"), *at;

	for (at = name; *at; at++)
		if (!strchr(plain, *at) || (at == name && *at == '.'))
			*at = '_';
	return name;
}

/*
 * The number of the disk: that of a record of the whole disk if there is one. Else that of a partition
 * less its index, which is right for all drivers but those of major number 259.
 */
static void note_device(struct disk *disk, const struct iot_block *b)
{
	__u32 minor = b->device & ((1U << MINOR_BITS) - 1);

	if (disk->is_whole)
		return;
	disk->is_whole = !b->partition;
	disk->device = b->device;
	if (b->partition && b->device >> MINOR_BITS != MAJOR_EXTENDED && minor >= b->partition)
		disk->device -= b->partition;
}

/* False if there are too many disks. */
static bool find_disk(struct state *s, const struct iot_block *b, __u32 *number)
{
	size_t nr = s->names.nr;

	*number = intern_add(&s->names, b->disk, strnlen(b->disk, sizeof(b->disk)));
	if (*number >= DISKS_MOST)
		return false;
	if (*number == nr) {
		s->disks = xreallocarray(s->disks, nr + 1, sizeof(*s->disks));
		s->disks[nr] = (struct disk){ .name = file_name_of(b->disk, sizeof(b->disk)) };
	}
	note_device(&s->disks[*number], b);
	return true;
}

static bool is_read(const struct iot_block *b)
{
	switch (b->op) {
	case IOT_BLOCK_READ:
	case IOT_BLOCK_FLUSH:	/* as the kernel has it: its number is even */
	case IOT_BLOCK_DRV_IN:
		return true;
	case IOT_BLOCK_OTHER:
		return !(b->op_code & 1);
	default:
		return false;
	}
}

/* What blktrace calls the category of a step. */
static __u32 kind_of(const struct iot_block *b)
{
	static const struct {
		__u32 flag, kind;
	} flags[] = {
		{ IOT_REQ_SYNC, BLK_TC_SYNC }, { IOT_REQ_META, BLK_TC_META },
		{ IOT_REQ_RAHEAD, BLK_TC_AHEAD }, { IOT_REQ_PREFLUSH, BLK_TC_FLUSH },
		{ IOT_REQ_FUA, BLK_TC_FUA },
	};
	bool drives = b->op == IOT_BLOCK_DRV_IN || b->op == IOT_BLOCK_DRV_OUT;
	__u32 kind = (is_read(b) ? BLK_TC_READ : BLK_TC_WRITE) | (drives ? BLK_TC_PC : BLK_TC_FS);
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (b->flags & flags[i].flag)
			kind |= flags[i].kind;
	if (b->op == IOT_BLOCK_DISCARD || b->op == IOT_BLOCK_SECURE_ERASE)
		kind |= BLK_TC_DISCARD;
	if (b->op == IOT_BLOCK_FLUSH)
		kind |= BLK_TC_FLUSH;
	return BLK_TC_ACT(kind);
}

static bool add_step(struct state *s, struct item *item, __u32 action, __u64 time, unsigned int cpu)
{
	item->key.group = item->key.group >> DISK_SHIFT << DISK_SHIFT | cpu;
	item->key.time = time;
	item->action = action;
	if (time < s->first)
		s->first = time;
	return sorter_add(&s->sorter, item);
}

/* A process notice tells the name of a process, before its first step on the disk. */
static bool add_process(struct exporter *x, const struct iot_block *b, __u32 disk)
{
	struct state *s = x->state;
	__u32 key[2] = { disk, b->pid };
	size_t nr = s->processes.nr, length;
	char comm[EXPORT_COMM];
	struct item item = { .key.group = (__u64)disk << DISK_SHIFT, .pid = b->pid };

	if (intern_add(&s->processes, key, sizeof(key)) < nr)
		return true;
	length = exporter_comm(x, comm, b->comm, sizeof(b->comm));
	memcpy(item.comm, comm, length < sizeof(item.comm) ? length : sizeof(item.comm) - 1);
	return add_step(s, &item, BLK_TN_PROCESS, b->time, b->submit_cpu);
}

static __u32 clip(struct state *s, __u64 bytes)
{
	if (bytes <= ~0U)
		return bytes;
	s->is_clipped = true;
	return ~0U;
}

/* From when it was made until the driver got it. */
static bool add_begin(struct state *s, struct item *item, const struct iot_block *b)
{
	__u32 kind = kind_of(b);
	__u64 issued = b->time + b->latency - b->device_latency;
	bool good;

	item->gets = !(b->flags & IOT_REQ_BIO);
	item->inserts = item->gets && b->queue_latency;
	good = add_step(s, item, __BLK_TA_QUEUE | kind | BLK_TC_ACT(BLK_TC_QUEUE), b->time, b->submit_cpu);
	if (!item->gets || !good)
		return good;
	item->gets = false;
	item->inserts = false;
	return add_step(s, item, __BLK_TA_ISSUE | kind | BLK_TC_ACT(BLK_TC_ISSUE), issued, b->submit_cpu);
}

static bool take(struct exporter *x, const void *record)
{
	const struct iot_block *b = record;
	struct state *s = x->state;
	struct item item = { .sector = b->sector, .bytes = clip(s, b->requested), .pid = b->pid };
	__u32 disk;

	if (!find_disk(s, b, &disk)) {
		cli_say_of(x->trace, "has more than %d disks: select some by --filter device=",
			   DISKS_MOST);
		return false;
	}
	item.key.group = (__u64)disk << DISK_SHIFT;
	if (!(b->flags & IOT_REQ_EARLY) && (!add_process(x, b, disk) || !add_begin(s, &item, b)))
		return false;
	item.error = b->result < 0 ? (__u16)b->result : 0;
	if (b->result >= 0 && (b->op == IOT_BLOCK_READ || b->op == IOT_BLOCK_WRITE))
		item.bytes = clip(s, b->result);
	return add_step(s, &item, __BLK_TA_COMPLETE | kind_of(b) | BLK_TC_ACT(BLK_TC_COMPLETE),
			b->time + b->latency, b->cpu);
}

/* --- the files ------------------------------------------------------------------ */

/* A file that is written. */
struct file {
	struct output *output;
	__u64 group;
	__u32 sequence;
	char name[NAME_MAX_BYTES];
};

static bool put_step(struct file *f, struct blk_io_trace *t, const void *payload, size_t length)
{
	char *out = output_row(f->output);

	t->magic = BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION;
	t->sequence = ++f->sequence;
	t->cpu = (__u32)f->group;
	t->pdu_len = length;
	out = put_bytes(out, (const char *)t, sizeof(*t));
	return output_put(f->output, put_bytes(out, payload, length));
}

/* @t: the step Q. */
static bool put_following(struct file *f, struct blk_io_trace *t, const struct item *item)
{
	__u32 queued = t->action;

	t->action = __BLK_TA_GETRQ | (queued & KIND_MASK & ~BLK_TC_ACT(BLK_TC_QUEUE));
	if (item->gets && !put_step(f, t, "", 0))
		return false;
	t->action = __BLK_TA_INSERT | (queued & KIND_MASK);
	return !item->inserts || put_step(f, t, "", 0);
}

static bool put_item(struct file *f, const struct disk *disk, const struct item *item)
{
	struct blk_io_trace t = {
		.time = item->key.time, .action = item->action, .pid = item->pid,
	};

	if (item->action == BLK_TN_PROCESS)
		return put_step(f, &t, item->comm, sizeof(item->comm));
	t.sector = item->sector;
	t.bytes = item->bytes;
	t.device = disk->device;
	t.error = item->error;
	return put_step(f, &t, "", 0) && put_following(f, &t, item);
}

/* The time of day at the first step, which is then the 0 of the times that are shown. */
static bool put_clock(const struct exporter *x, struct file *f)
{
	const struct state *s = x->state;
	struct blk_io_trace t = { .time = s->first, .action = BLK_TN_TIMESTAMP };
	__u64 now = wall_time(x->clock, s->first);
	__u32 payload[2] = { now / NS_PER_S, now % NS_PER_S };

	return put_step(f, &t, payload, sizeof(payload));
}

static bool begin_file(const struct exporter *x, struct file *f, __u64 group, bool first_of_disk)
{
	const struct state *s = x->state;

	f->group = group;
	f->sequence = 0;
	snprintf(f->name, sizeof(f->name), "%s.blktrace.%u", s->disks[group >> DISK_SHIFT].name,
		 (__u32)group);
	return output_begin_named(f->output, f->name) && (!first_of_disk || put_clock(x, f));
}

static bool finish(struct exporter *x)
{
	struct state *s = x->state;
	struct file file = { .output = x->output };
	const struct item *item;
	__u64 disk = ~0ULL;
	bool begun = false;

	if (!sorter_finish(&s->sorter))
		return false;
	while ((item = sorter_next(&s->sorter))) {
		__u64 group = item->key.group;

		if (!begun || group != file.group) {
			if (!begin_file(x, &file, group, group >> DISK_SHIFT != disk))
				return false;
			disk = group >> DISK_SHIFT;
			begun = true;
		}
		if (!put_item(&file, &s->disks[disk], item))
			return false;
	}
	if (!begun)
		cli_say_of(x->trace, "no request was selected, so there is no file");
	if (s->is_clipped)
		cli_say_of(x->trace, "a size of 4 GiB or more is written as 4 GiB - 1: blktrace has 32 bits for it");
	return !s->sorter.failed;
}

static void close_blktrace(struct exporter *x)
{
	struct state *s = x->state;
	size_t i;

	for (i = 0; i < s->names.nr && i < DISKS_MOST; i++)
		free(s->disks[i].name);
	free(s->disks);
	intern_free(&s->names);
	intern_free(&s->processes);
	sorter_close(&s->sorter);
	free(s);
}

const struct export_format export_blktrace = {
	.name = "blktrace",
	.events = { IOT_EVENT_ID_BLOCK },
	.in_directory = true,
	.no_gzip = "blkparse does not read it",
	.open = open_blktrace,
	.take = take,
	.finish = finish,
	.close = close_blktrace,
};
