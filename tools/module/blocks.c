// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "module/blocks.h"
#include "module/control.h"
#include "module/proc.h"
#include "module/target.h"
#include "trace/record.h"
#include "trace/row.h"

#define READ_BYTES (1024 * 1024)	/* of one read; the module returns whole blocks */
#define TEXT_BYTES (64 * 1024)		/* of one read of paths: several of the longest fit */

static ssize_t read_some(int fd, char *to, size_t room)
{
	ssize_t n;

	do {
		n = read(fd, to, room);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Events since the last reset that were overwritten or lost. */
static __u64 not_kept(const struct blocks *b)
{
	const struct control c = { .category = b->category->name, .fd = -1, .commands = -1 };
	struct target_stats stats;
	const struct target_count *total;

	if (!b->target)
		return control_stat(&c, "overwritten") + control_stat(&c, "lost");
	if (target_stats_load(b->target, &stats))
		return 0;
	total = target_stats_total(&stats);
	return total->overwritten + total->lost;
}

static int explain(const struct blocks *b, int err)
{
	if (b->target)
		return proc_explain(b->stream.subject, b->target, "stream", err);
	return control_explain(b->category->name, "stream", err);
}

/* Does the first read, and removes the header from what was read. */
static int open_part(struct blocks *b, struct stream *s, int fd, unsigned int layout,
		     char *data, size_t room, size_t *left)
{
	struct iot_stream_header h;
	ssize_t n = read_some(fd, data, room);
	int status;

	if (n < 0)
		return explain(b, n);
	if ((size_t)n < sizeof(h)) {
		cli_say_of(b->stream.subject, "its stream ends within the header");
		return CLI_FAILED;
	}
	memcpy(&h, data, sizeof(h));
	/* The header of paths names no event; stream_check() gets the category's. */
	if (layout == IOT_LAYOUT_PATHS) {
		h.event = b->category->event_id;
		h.record_size = category_event(b->category)->size;
	}
	status = stream_check(s, &h, layout);
	if (!status && h.header_size > (size_t)n) {
		cli_say_of(b->stream.subject, "its stream ends within the header");
		status = CLI_FAILED;
	}
	if (status)
		return status;
	*left = n - h.header_size;
	memmove(data, data + h.header_size, *left);
	return CLI_OK;
}

static int open_paths(struct blocks *b)
{
	struct stream paths = { .subject = "paths" };
	int status;

	b->paths = proc_open(NULL, "paths", O_RDONLY);
	if (b->paths < 0)
		return proc_explain("paths", NULL, "paths", b->paths);
	status = open_part(b, &paths, b->paths, IOT_LAYOUT_PATHS, b->text, TEXT_BYTES,
			   &b->text_left);
	b->stream.foreign = paths.foreign;
	return status;
}

int blocks_open(struct blocks *b, const struct category *category, const char *target,
		const char *subject)
{
	const char *name = target ? target : category->name;
	int status;

	*b = (struct blocks){ .category = category, .target = target, .paths = -1 };
	b->stream = (struct stream){ .fd = -1, .subject = subject, .target = name };
	b->data = xreallocarray(NULL, READ_BYTES, 1);
	b->text = xreallocarray(NULL, TEXT_BYTES, 1);
	if (!b->data || !b->text)
		return CLI_FAILED;
	b->stream.fd = proc_open(name, "stream", O_RDONLY);
	if (b->stream.fd < 0)
		return explain(b, b->stream.fd);
	b->before = not_kept(b);
	status = open_paths(b);
	if (!status)
		status = open_part(b, &b->stream, b->stream.fd, IOT_LAYOUT_BLOCKS, b->data,
				   READ_BYTES, &b->left);
	if (!status && b->stream.event->id != category->event_id) {
		cli_say_of(subject, "its stream has events of %s instead of %s",
			   b->stream.event->name, category->name);
		status = CLI_FAILED;
	}
	return status;
}

void blocks_close(struct blocks *b)
{
	if (b->stream.fd >= 0)
		close(b->stream.fd);
	if (b->paths >= 0)
		close(b->paths);
	paths_free(&b->names);
	free(b->data);
	free(b->text);
}

/* False if there is no memory. */
static bool add_records(const struct blocks *b, struct records *r, const char *from, size_t nr)
{
	size_t size = b->stream.event->size, room = 2 * r->room + nr;

	if (r->room - r->nr < nr) {
		if (!xgrow(&r->data, room, size))
			return false;
		r->room = room;
	}
	memcpy(r->data + r->nr * size, from, nr * size);
	r->nr += nr;
	return true;
}

/* In the first read, a gap without records is skipped: b->before already counts it. */
static int take_blocks(struct blocks *b, struct records *r, size_t bytes)
{
	size_t size = b->stream.event->size, at = 0;
	struct iot_stream_block head;

	while (bytes - at >= sizeof(head)) {
		memcpy(&head, b->data + at, sizeof(head));
		at += sizeof(head);
		if (head.magic != IOT_STREAM_BLOCK_MAGIC || head.event != b->stream.event->id ||
		    head.count > (bytes - at) / size)
			return -EBADMSG;
		if (b->begun || head.count)
			b->gaps += head.gap;
		if (head.count && !add_records(b, r, b->data + at, head.count))
			return -ENOMEM;
		at += head.count * size;
	}
	b->begun = true;
	return at == bytes ? 0 : -EBADMSG;
}

/* Adds the whole paths; an incomplete one stays for the next read. */
static void take_paths(struct blocks *b)
{
	struct iot_path_record p;
	size_t at = 0, length;

	while (b->text_left - at >= sizeof(p)) {
		memcpy(&p, b->text + at, sizeof(p));
		length = sizeof(p) + (((size_t)p.length + 7) & ~(size_t)7);
		if (length > b->text_left - at)
			break;
		paths_add(&b->names, p.id, b->text + at + sizeof(p), p.length);
		at += length;
	}
	b->text_left -= at;
	memmove(b->text, b->text + at, b->text_left);
}

/* Called after records were read: the paths that these name can already be read. */
static int read_paths(struct blocks *b)
{
	ssize_t n;

	do {
		take_paths(b);
		n = read_some(b->paths, b->text + b->text_left, TEXT_BYTES - b->text_left);
		if (n > 0)
			b->text_left += n;
	} while (n > 0);
	return n;
}

int blocks_list_paths(struct blocks *b)
{
	paths_free(&b->names);
	b->text_left = 0;
	close(b->paths);
	return open_paths(b) ? -EIO : read_paths(b);
}

int blocks_read(struct blocks *b, struct records *r, size_t most)
{
	int err = take_blocks(b, r, b->left);
	ssize_t n = 1;

	b->left = 0;
	while (!err && n > 0 && r->nr < most) {
		n = read_some(b->stream.fd, b->data, READ_BYTES);
		err = n < 0 ? n : take_blocks(b, r, n);
	}
	return err ? err : read_paths(b);
}

/* Where records have the fields by which they are sorted: looking them up is what a sort would cost. */
struct order {
	unsigned int seq, time, latency;	/* offsets */
};

static struct order order_of(const struct iot_schema_event *event)
{
	return (struct order){
		.seq = record_field(event, "seq")->offset, .time = record_field(event, "time")->offset,
		.latency = record_field(event, "latency")->offset,
	};
}

static __u64 u64_at(const void *record, unsigned int offset)
{
	return record_scalar(record, offset, sizeof(__u64));
}

static int compare(const void *a, const void *b, void *data)
{
	const struct order *o = data;
	__u64 x = u64_at(a, o->time) + u64_at(a, o->latency);
	__u64 y = u64_at(b, o->time) + u64_at(b, o->latency);

	if (x == y) {
		x = u64_at(a, o->seq);
		y = u64_at(b, o->seq);
	}
	return x < y ? -1 : x > y;
}

void blocks_sort(const struct blocks *b, struct records *r)
{
	struct order order = order_of(b->stream.event);
	size_t size = b->stream.event->size, i;

	/* those of one CPU often come in order */
	for (i = 1; i < r->nr && compare(r->data + (i - 1) * size, r->data + i * size, &order) <= 0; i++)
		;
	if (i < r->nr)
		qsort_r(r->data, r->nr, size, compare, &order);
}

__u64 blocks_missing(const struct blocks *b, bool followed)
{
	return followed ? b->before + b->gaps : not_kept(b);
}
