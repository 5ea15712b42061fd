// SPDX-License-Identifier: GPL-2.0
/* Rules about category block: by disk, and by process on a disk. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scaled.h"
#include "base/text.h"
#include "trace/categories.h"
#include "trace/finding.h"
#include "trace/finding_wait.h"
#include "uapi/iotracer.h"

#define REQUESTS_LEAST	1000	/* requests: with 0.1 ms each, 0.1 s */
#define HALF		50	/* percent */
#define SHALLOW		4	/* requests in the device: it has no queue to speak of */
#define DEEP		32	/* the depth of SATA's queue: more only wait */
#define DEEP_SLOWER	4	/* times: a device that works in parallel is not so much slower */
#define WAIT		FINDING_MS	/* ns in the queue: longer than a fast device takes */
#define BUSY		8	/* requests in the device: somebody else's are before it */
#define ALONE		2	/* requests in the device: almost none */
#define OTHERS_LEAST	100	/* requests of others, of either kind, for their means */
#define OTHERS_SLOWER	2	/* times */
#define SMALL		(16 * FINDING_KIB)	/* bytes: a command takes longer */
#define FLUSHES_LEAST	10	/* requests: fewer may be one shutdown */
#define FLUSH_SLOW	FINDING_MS	/* ns on average: longer than a protected cache takes */
#define FLUSH_TIME	25	/* percent of the device's time */
#define WAITS_LEAST	10	/* requests: fewer may be one bad moment */
#define WAIT_TIME	10	/* percent of the duration: what a program notices */
#define BEHIND		25	/* percent of all that a process waited */
#define DISCARDS_LEAST	10	/* requests: one may be of a whole disk */
#define DISCARD_SLOW	(10 * FINDING_MS)	/* ns on average */
#define DISCARD_TIME	10	/* percent of the device's time */

struct disk {
	struct finding_subject subject;
	struct finding_tally all;	/* time: with the device */
	struct finding_tally data;	/* reads and writes */
	struct finding_tally shallow, deep, waits, adjacent, flushes, discards;	/* time: in all */
	struct finding_tally alone, busy;	/* as of struct user */
	struct finding_tally requests, failed;
	unsigned int error;		/* the latest errno */
	__u64 next[2];			/* sectors behind the last read, and the last write */
	__u32 number;			/* of finding_wait.h */
};

/* What a process has submitted to a disk, or has made others write back. */
struct user {
	struct finding_subject subject;
	size_t disk;			/* number of its disk */
	struct finding_tally all;	/* time: with the device */
	struct finding_tally alone, busy;	/* with few, with many in the device */
	__u32 number;			/* of finding_wait.h */
};

enum { DISKS, USERS };

static bool is_discard(unsigned int op)
{
	return op == IOT_BLOCK_DISCARD || op == IOT_BLOCK_SECURE_ERASE || op == IOT_BLOCK_WRITE_ZEROES;
}

/*
 * A device that cannot discard refuses it, and read-ahead is given up where it would have to wait.
 */
static bool is_fault(const struct iot_block *b, const struct measure *m)
{
	return m->error && m->error != EOPNOTSUPP && !(b->flags & (IOT_REQ_NOWAIT | IOT_REQ_RAHEAD));
}

static void add_device_time(struct finding_tally *t, const struct iot_block *b,
			    const struct measure *m)
{
	t->count += m->weight;
	t->bytes += m->weight * m->bytes;
	t->time += m->weight * b->device_latency;
}

/* Small requests that begin where the last one ended could have been one. */
static void add_adjacent(struct disk *d, const struct iot_block *b, const struct measure *m)
{
	unsigned int direction = b->op == IOT_BLOCK_WRITE;

	finding_count(&d->data, m);
	if (b->requested < SMALL && d->next[direction] && b->sector == d->next[direction])
		finding_count(&d->adjacent, m);
	d->next[direction] = b->sector + b->requested / 512;
}

static void add_to_disk(struct disk *d, const struct iot_block *b, const struct measure *m)
{
	memcpy(d->subject.disk, b->disk, sizeof(d->subject.disk));
	finding_count(&d->requests, m);
	if (is_fault(b, m)) {
		finding_count(&d->failed, m);
		d->error = m->error;
	}
	/* When it began is not known, so nor are its times. */
	if (b->flags & IOT_REQ_EARLY)
		return;
	add_device_time(&d->all, b, m);
	if (b->op == IOT_BLOCK_FLUSH)
		finding_count(&d->flushes, m);
	else if (is_discard(b->op))
		finding_count(&d->discards, m);
	else if (b->op <= IOT_BLOCK_WRITE)
		add_adjacent(d, b, m);
	if (b->depth && b->depth <= SHALLOW)
		finding_count(&d->shallow, m);
	if (b->depth >= DEEP)
		finding_count(&d->deep, m);
	if (b->depth && b->depth <= ALONE)
		finding_count(&d->alone, m);
	if (b->depth >= BUSY)
		finding_count(&d->busy, m);
	if (b->queue_latency >= WAIT && b->queue_latency > b->device_latency)
		finding_count(&d->waits, m);
}

static void add_to_user(struct user *u, const struct iot_block *b, const struct measure *m)
{
	if (b->flags & IOT_REQ_EARLY)
		return;
	add_device_time(&u->all, b, m);
	if (b->depth && b->depth <= ALONE)
		finding_count(&u->alone, m);
	if (b->depth >= BUSY)
		finding_count(&u->busy, m);
}

static void add_wait(struct finding_events *e, const void *record, struct user *u, struct disk *d)
{
	struct finding_waits *waits = e->own;
	struct io_event event = { .kind = IO_REQUEST };

	io_event_read(&event, &category_block, 0, NULL, record);
	if (!(event.flags & IOT_REQ_EARLY))
		finding_waits_add(&waits, &event, &u->number, &d->number);
	e->own = waits;
}

static void add(struct finding_events *e, const void *record, const struct measure *m)
{
	const struct iot_block *b = record;
	__u32 pid = b->origin_pid ? b->origin_pid : b->pid;
	const char *comm = b->origin_pid ? b->origin_comm : b->comm;
	struct { const void *source; __u64 pid; char disk[FINDING_DISK]; } key = { .source = e->source };
	struct disk *d;
	struct user *u;
	size_t number;

	/* It is part of another request, which is an event itself. */
	if (b->flags & IOT_REQ_FLUSH_SEQ)
		return;
	memcpy(key.disk, b->disk, sizeof(key.disk));
	d = finding_find(e, DISKS, &key, sizeof(key), m, pid, comm);
	number = ((char *)d - e->tables[DISKS].subjects) / sizeof(*d);
	add_to_disk(d, b, m);
	key.pid = pid;
	u = finding_find(e, USERS, &key, sizeof(key), m, pid, comm);
	u->disk = number;
	memcpy(u->subject.disk, b->disk, sizeof(u->subject.disk));
	add_to_user(u, b, m);
	add_wait(e, record, u, finding_at(&e->tables[DISKS], number));
}

/* --- the rules ------------------------------------------------------------------ */

static bool deep_queue(const void *subject, const struct finding_context *c,
		       struct finding_row *row)
{
	const struct disk *d = subject;
	double deep = finding_mean(&d->deep), shallow = finding_mean(&d->shallow);
	char times[2][SCALED];

	(void)c;
	snprintf(row->note, sizeof(row->note), "%s each, and %s with at most %d in the device",
		 scaled_time(times[0], deep), scaled_time(times[1], shallow), SHALLOW);
	return finding_is_most(row, &d->deep, d->requests.count, REQUESTS_LEAST, 0) &&
	       d->shallow.count >= REQUESTS_LEAST && deep >= DEEP_SLOWER * shallow;
}

static bool queue_wait(const void *subject, const struct finding_context *c,
		       struct finding_row *row)
{
	const struct disk *d = subject;

	(void)c;
	return finding_is_most(row, &d->waits, d->requests.count, REQUESTS_LEAST, HALF);
}

static struct finding_tally others(const struct finding_tally *all, const struct finding_tally *own)
{
	return (struct finding_tally){ .count = all->count - own->count, .time = all->time - own->time };
}

static bool noisy_neighbour(const void *subject, const struct finding_context *c,
			    struct finding_row *row)
{
	const struct user *u = subject;
	const struct finding_table *disks = &c->tables[DISKS];
	const struct disk *d = u->disk < disks->nr ? finding_at(disks, u->disk) : NULL;
	struct finding_tally alone, busy;
	char times[2][SCALED];

	if (!d || !finding_is_most(row, &u->all, d->all.count, REQUESTS_LEAST, 0) ||
	    !finding_share(u->all.time, d->all.time, HALF))
		return false;
	alone = others(&d->alone, &u->alone);
	busy = others(&d->busy, &u->busy);
	snprintf(row->note, sizeof(row->note), "others: %s each, and %s with at most %d in the device",
		 scaled_time(times[0], finding_mean(&busy)), scaled_time(times[1], finding_mean(&alone)),
		 ALONE);
	return alone.count >= OTHERS_LEAST && busy.count >= OTHERS_LEAST &&
	       finding_mean(&busy) >= OTHERS_SLOWER * finding_mean(&alone);
}

/* "41 % of it behind dd (245), which used .../backup/big" */
static void put_behind(char *note, const struct finding_wait *w, const struct paths *names)
{
	const struct name *name = names_find(names, w->other_path);
	char *comm = text_show(w->comm, strnlen(w->comm, IO_COMM));
	char *path = name ? text_shorten(name->text, 40) : NULL;

	snprintf(note, FINDING_NOTE, "%.0f %% of its wait behind %s (%u)%s%s", 100.0 * w->behind / w->wait, comm,
		 w->pid, path ? ", at work on " : "", path ? path : "");
	free(comm);
	free(path);
}

static bool behind_others(const void *subject, const struct finding_context *c, struct finding_row *row)
{
	const struct user *u = subject;
	struct finding_wait w;

	if (!c->duration || !finding_waits_most(c->own, u->number, &w) || !w.path || !w.wait)
		return false;
	row->tally = (struct finding_tally){ .count = w.requests, .bytes = w.bytes, .time = w.behind };
	row->of = w.requests;
	row->path = w.path;
	put_behind(row->note, &w, c->names);
	return w.requests >= WAITS_LEAST && finding_share(w.behind, w.wait, BEHIND) &&
	       finding_share(w.behind, c->duration, WAIT_TIME);
}

static bool small_requests(const void *subject, const struct finding_context *c,
			   struct finding_row *row)
{
	const struct disk *d = subject;

	(void)c;
	return finding_is_most(row, &d->adjacent, d->data.count, REQUESTS_LEAST, HALF);
}

static bool slow_flush(const void *subject, const struct finding_context *c,
		       struct finding_row *row)
{
	const struct disk *d = subject;
	char mean[SCALED];

	(void)c;
	snprintf(row->note, sizeof(row->note), "%s each", scaled_time(mean, finding_mean(&d->flushes)));
	return finding_is_most(row, &d->flushes, d->requests.count, FLUSHES_LEAST, 0) &&
	       finding_mean(&d->flushes) >= FLUSH_SLOW &&
	       finding_share(d->flushes.time, d->all.time, FLUSH_TIME);
}

static bool slow_discard(const void *subject, const struct finding_context *c,
			 struct finding_row *row)
{
	const struct disk *d = subject;

	(void)c;
	return finding_is_most(row, &d->discards, d->requests.count, DISCARDS_LEAST, 0) &&
	       finding_mean(&d->discards) >= DISCARD_SLOW &&
	       finding_share(d->discards.time, d->all.time, DISCARD_TIME);
}

static bool io_errors(const void *subject, const struct finding_context *c, struct finding_row *row)
{
	const struct disk *d = subject;

	(void)c;
	if (!finding_is_most(row, &d->failed, d->requests.count, 1, 0))
		return false;
	if (strerrorname_np(d->error))
		snprintf(row->note, sizeof(row->note), "the last one with %s", strerrorname_np(d->error));
	return true;
}

static const struct finding_rule rules[] = {
	{ "io-errors", DISKS, FINDING_CRITICAL, "disk", "requests", "failed",
	  "Look at the kernel's log and the device's health (smartctl -a).", .look = io_errors },
	{ "deep-queue", DISKS, FINDING_WARNING, "disk", "requests",
	  "found 31 others or more in the device, and took four times as long as those that found few",
	  "Submit fewer at once (iodepth, fewer threads), or lower /sys/block/DISK/queue/nr_requests.",
	  .look = deep_queue },
	{ "queue-wait", DISKS, FINDING_WARNING, "disk", "requests",
	  "waited 1 ms or more in the queue, and longer than the device took",
	  "For a fast device set /sys/block/DISK/queue/scheduler to none; else submit less at once, or spread it over several disks.",
	  .look = queue_wait },
	{ "noisy-neighbour", USERS, FINDING_WARNING, "process", "requests",
	  "were of one process that took half of the device's time, while others' took twice as long",
	  "Limit it with io.max or io.latency of its control group, or give it a disk of its own.",
	  .look = noisy_neighbour },
	{ "behind-others", USERS, FINDING_WARNING, "file", "requests",
	  "waited for a disk that was at work for another process",
	  "The disk is shared. Run the other one at another time, limit it (io.max or io.latency of its control group, ionice), or give it a disk of its own.",
	  .look = behind_others, .needs_all = true },
	{ "small-requests", DISKS, FINDING_NOTICE, "disk", "reads and writes",
	  "were of less than 16 KiB, began where the one before ended, and were not merged",
	  "Write or read more at once, raise read_ahead_kb, or let the scheduler merge (/sys/block/DISK/queue/nomerges 0).",
	  .look = small_requests, .needs_all = true },
	{ "slow-flush", DISKS, FINDING_WARNING, "disk", "requests",
	  "were flushes, which took 1 ms on average or more, and 25 % of the device's time",
	  "Find who calls fsync(2) (rules fsync-*), or use a device with a protected write cache.",
	  .look = slow_flush },
	{ "slow-discard", DISKS, FINDING_WARNING, "disk", "requests",
	  "were discards, which took 10 ms on average or more, and 10 % of the device's time",
	  "Mount without discard and run fstrim(8) when the disk is idle, or lower /sys/block/DISK/queue/discard_max_bytes.",
	  .look = slow_discard },
};

static void finish(void *own)
{
	finding_waits_finish(own);
}

static void release(void *own)
{
	finding_waits_free(own);
}

const struct finding_watch finding_block = {
	.category = "block",
	.sizes = { [DISKS] = sizeof(struct disk), [USERS] = sizeof(struct user) },
	.add = add, .finish = finish, .release = release, .rules = rules, .nr_rules = sizeof(rules) / sizeof(rules[0]),
};
