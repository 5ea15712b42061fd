// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "module/proc.h"
#include "module/stream.h"
#include "module/target.h"
#include "trace/record.h"
#include "trace/row.h"

/* Returns bytes read, fewer than @size only at the end, or a negative errno. */
static ssize_t read_full(int fd, void *data, size_t size)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < size && n) {
		n = read(fd, (char *)data + done, size - done);
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? n : 0;
	}
	return done;
}

static int refuse(const struct stream *s, const char *what)
{
	cli_say_of(s->subject, "%s", what);
	return CLI_FAILED;
}

int stream_check(struct stream *s, const struct iot_stream_header *h, unsigned int layout)
{
	if (h->magic != IOT_STREAM_MAGIC)
		return refuse(s, "its stream is not one of iotracer's (wrong magic number)");
	s->foreign = h->version != IOT_STREAM_VERSION || h->schema != iot_schema_hash();
	if (s->foreign) {
		cli_say_of(s->subject, "the module writes stream version %u schema %016llx, this tool reads version %d schema %016llx: install the tool that belongs to the module",
			   h->version, (unsigned long long)h->schema, IOT_STREAM_VERSION,
			   (unsigned long long)iot_schema_hash());
		return CLI_FAILED;
	}
	s->event = iot_schema_find(h->event);
	if (h->layout != layout ||
	    !s->event || s->event->size != h->record_size ||
	    h->header_size < sizeof(*h) || h->header_size > 65536) {
		cli_say_of(s->subject, "its stream is damaged: event %u, records of %u bytes, header of %u bytes",
			   h->event, h->record_size, h->header_size);
		return CLI_FAILED;
	}
	s->t0 = h->t0;
	return CLI_OK;
}

/* Skips bytes: a header may get new fields at its end within a version. */
static int skip(int fd, size_t bytes)
{
	char discard[512];
	ssize_t n = 1;

	for (; bytes && n > 0; bytes -= n)
		n = read_full(fd, discard, bytes < sizeof(discard) ? bytes : sizeof(discard));
	return n < 0 ? n : 0;
}

static int read_header(struct stream *s)
{
	struct iot_stream_header h = { 0 };
	ssize_t n = read_full(s->fd, &h, sizeof(h));
	int status;

	if (n < 0)
		return proc_explain(s->subject, s->target, "stream", n);
	if ((size_t)n < sizeof(h))
		return refuse(s, "its stream ends within the header");
	status = stream_check(s, &h, IOT_LAYOUT_RECORDS);
	if (status)
		return status;
	n = skip(s->fd, h.header_size - sizeof(h));
	return n < 0 ? proc_explain(s->subject, s->target, "stream", n) : CLI_OK;
}

int stream_open(struct stream *s, const char *target, const char *subject)
{
	int status;

	*s = (struct stream){ .fd = -1, .subject = subject, .target = target };
	s->fd = proc_open(target, "stream", O_RDONLY);
	if (s->fd < 0)
		return proc_explain(subject, target, "stream", s->fd);
	status = read_header(s);
	if (status)
		return status;
	s->tail = xreallocarray(NULL, s->event->size, 1);
	return s->tail ? CLI_OK : CLI_FAILED;
}

void stream_close(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	free(s->tail);
	s->tail = NULL;
	s->fd = -1;
}

static void count_gap(struct stream *s, const void *record)
{
	__u64 seq = record_seq(s->event, record);

	if (!s->started)
		s->first = seq;
	else if (seq > s->next)
		s->gaps += seq - s->next;
	s->next = seq + 1;
	s->started = true;
}

#define BATCH 1024	/* records of one read */

static bool make_room(const struct stream *s, struct records *r)
{
	size_t room = r->room ? 2 * r->room : 2 * BATCH;

	if (r->room - r->nr >= BATCH)
		return true;
	if (!xgrow(&r->data, room, s->event->size))
		return false;
	r->room = room;
	return true;
}

/* Reads once: adds whole records and keeps the rest. Returns bytes read or a negative errno. */
static ssize_t read_some(struct stream *s, struct records *r)
{
	size_t size = s->event->size;
	unsigned char *to;
	size_t bytes, i;
	ssize_t n;

	if (!make_room(s, r))
		return -ENOMEM;
	to = r->data + r->nr * size;
	memcpy(to, s->tail, s->partial);
	do {
		n = read(s->fd, to + s->partial, BATCH * size - s->partial);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	bytes = s->partial + n;
	for (i = 0; i < bytes / size; i++)
		count_gap(s, to + i * size);
	r->nr += i;
	s->partial = bytes % size;
	memcpy(s->tail, to + i * size, s->partial);
	return n;
}

int stream_read(struct stream *s, struct records *r, size_t most)
{
	ssize_t n = 1;

	while (n > 0 && r->nr < most)
		n = read_some(s, r);
	return n < 0 ? n : 0;
}

static int compare(const void *a, const void *b, void *event)
{
	__u64 x = record_time(event, a), y = record_time(event, b);

	if (x == y) {
		x = record_seq(event, a);
		y = record_seq(event, b);
	}
	return x < y ? -1 : x > y;
}

void stream_sort(const struct stream *s, struct records *r)
{
	qsort_r(r->data, r->nr, s->event->size, compare, (void *)s->event);
}

/*
 * After the first record, gaps in seq are the missing events. Before it they are not,
 * since reset starts a new ring but does not restart seq. There the counters of stats
 * are used, and seq is their upper bound.
 */
__u64 stream_missing(const struct stream *s)
{
	const struct target_count *total;
	struct target_stats stats;
	__u64 bound = s->started ? s->first + s->gaps : ~0ULL;
	__u64 missing = bound;

	if (!target_stats_load(s->target, &stats)) {
		total = target_stats_total(&stats);
		missing = total->overwritten + total->lost;
	} else {
		return s->gaps;
	}
	if (missing > bound)
		missing = bound;
	return missing > s->gaps ? missing : s->gaps;
}

const void *records_at(const struct stream *s, const struct records *r, size_t i)
{
	return r->data + i * s->event->size;
}

void records_free(struct records *r)
{
	free(r->data);
	*r = (struct records){ 0 };
}
