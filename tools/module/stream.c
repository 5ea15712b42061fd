// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "module/control.h"
#include "module/proc.h"
#include "module/stream.h"
#include "module/target.h"
#include "trace/categories.h"
#include "trace/record.h"

#define READ_BYTES (1024 * 1024)	/* of one read; the module returns whole blocks */
#define TEXT_BYTES (64 * 1024)		/* of one read of paths: several of the longest fit */

/* Adds what one read returns, up to @room. Returns bytes read or a negative errno. */
static ssize_t fill(struct stream_file *f, size_t room)
{
	ssize_t n;

	do {
		n = read(f->fd, f->data + f->left, room - f->left);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	f->left += n;
	return n;
}

static void use(struct stream_file *f, size_t bytes)
{
	f->left -= bytes;
	memmove(f->data, f->data + bytes, f->left);
}

static void close_file(struct stream_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->data);
	*f = (struct stream_file){ .fd = -1 };
}

/* Events since the last reset that were overwritten or lost; 0 if that cannot be found out. */
static __u64 not_kept(const struct stream *s)
{
	const struct target_count *total;
	struct target_stats stats;

	if (!s->target) {
		const struct control c = { .category = s->category->name, .fd = -1, .commands = -1 };

		return control_stat(&c, "overwritten") + control_stat(&c, "lost");
	}
	if (target_stats_load(s->target, &stats))
		return 0;
	total = target_stats_total(&stats);
	return total->overwritten + total->lost;
}

static int refuse(const char *subject, const char *what)
{
	cli_say_of(subject, "%s", what);
	return CLI_FAILED;
}

int stream_explain(const struct stream *s, int err)
{
	if (err == -EBADMSG)
		return refuse(s->subject, "its stream is damaged");
	if (s->target)
		return proc_explain(s->subject, s->target, "stream", err);
	return control_explain(s->category->name, "stream", err);
}

/* --- opening -------------------------------------------------------------------------------- */

static bool is_sound(const struct iot_stream_header *h, unsigned int layout)
{
	const struct iot_schema_event *event = iot_schema_find(h->event);

	return h->layout == layout && h->header_size >= sizeof(*h) && h->header_size <= 65536 &&
	       (layout == IOT_LAYOUT_PATHS || (event && event->size == h->record_size));
}

/* Checks that this tool understands the header. */
static int check_header(struct stream *s, const char *subject, const struct iot_stream_header *h,
			unsigned int layout)
{
	if (h->magic != IOT_STREAM_MAGIC)
		return refuse(subject, "its stream is not one of iotracer's (wrong magic number)");
	s->foreign = h->version != IOT_STREAM_VERSION || h->schema != iot_schema_hash();
	if (s->foreign) {
		cli_say_of(subject, "the module writes stream version %u schema %016llx, this tool reads version %d schema %016llx: install the tool that belongs to the module",
			   h->version, (unsigned long long)h->schema, IOT_STREAM_VERSION,
			   (unsigned long long)iot_schema_hash());
		return CLI_FAILED;
	}
	if (is_sound(h, layout))
		return CLI_OK;
	cli_say_of(subject, "its stream is damaged: event %u, records of %u bytes, header of %u bytes",
		   h->event, h->record_size, h->header_size);
	return CLI_FAILED;
}

/* Does the first read, and removes the header from what was read. */
static int open_file(struct stream *s, struct stream_file *f, const char *subject,
		     struct iot_stream_header *h, unsigned int layout)
{
	size_t room = layout == IOT_LAYOUT_PATHS ? TEXT_BYTES : READ_BYTES;
	ssize_t n;
	int status;

	f->data = xreallocarray(NULL, room, 1);
	if (!f->data)
		return CLI_FAILED;
	n = fill(f, room);
	if (n < 0)
		return stream_explain(s, n);
	if ((size_t)n < sizeof(*h))
		return refuse(subject, "its stream ends within the header");
	memcpy(h, f->data, sizeof(*h));
	status = check_header(s, subject, h, layout);
	if (!status && h->header_size > (size_t)n)
		status = refuse(subject, "its stream ends within the header");
	if (!status)
		use(f, h->header_size);
	return status;
}

static int open_paths(struct stream *s)
{
	struct iot_stream_header h;

	s->paths.fd = proc_open(NULL, "paths", O_RDONLY);
	if (s->paths.fd < 0)
		return proc_explain("paths", NULL, "paths", s->paths.fd);
	return open_file(s, &s->paths, "paths", &h, IOT_LAYOUT_PATHS);
}

/* Finds out whose events they are. If no category is expected, they are of io or of fs. */
static int find_event(struct stream *s, const struct iot_stream_header *h)
{
	s->event = iot_schema_find(h->event);
	s->t0 = h->t0;
	if (!s->category && s->event->id == IOT_EVENT_ID_IO)
		return CLI_OK;
	if (!s->category)
		s->category = &category_fs;
	if (s->event->id == s->category->event_id)
		return CLI_OK;
	cli_say_of(s->subject, "its stream has events of %s instead of %s", s->event->name,
		   s->category->name);
	return CLI_FAILED;
}

int stream_open(struct stream *s, const struct category *category, const char *target,
		const char *subject)
{
	struct iot_stream_header h;
	int status;

	*s = (struct stream)STREAM_CLOSED;
	s->subject = subject;
	s->target = target;
	s->category = category;
	s->blocks.fd = proc_open(target ? target : category->name, "stream", O_RDONLY);
	if (s->blocks.fd < 0)
		return stream_explain(s, s->blocks.fd);
	s->before = not_kept(s);
	status = open_file(s, &s->blocks, subject, &h, IOT_LAYOUT_BLOCKS);
	if (!status)
		status = find_event(s, &h);
	if (!status && s->category)
		status = open_paths(s);
	else
		s->before = 0;
	return status;
}

void stream_close(struct stream *s)
{
	close_file(&s->blocks);
	close_file(&s->paths);
	paths_free(&s->names);
}

/* --- reading -------------------------------------------------------------------------------- */

/* False if there is no memory. */
static bool add_records(const struct stream *s, struct records *r, const char *from, size_t nr)
{
	size_t size = s->event->size, room = 2 * r->room + nr;

	if (r->room - r->nr < nr) {
		if (!xgrow(&r->data, room, size))
			return false;
		r->room = room;
	}
	memcpy(r->data + r->nr * size, from, nr * size);
	r->nr += nr;
	return true;
}

/* In the first read, a gap without records is skipped: not_kept() already counts it. */
static void count_gap(struct stream *s, const struct iot_stream_block *head)
{
	if (!s->begun && !head->count)
		return;
	if (!s->started)
		s->first = head->first - head->gap;
	s->started = true;
	s->gaps += head->gap;
}

/* Adds the records of whole blocks; an incomplete one stays for the next read. */
static int take_blocks(struct stream *s, struct records *r)
{
	struct stream_file *f = &s->blocks;
	struct iot_stream_block head;
	size_t at = 0, bytes;

	while (f->left - at >= sizeof(head)) {
		memcpy(&head, f->data + at, sizeof(head));
		if (head.magic != IOT_STREAM_BLOCK_MAGIC || head.event != s->event->id)
			return -EBADMSG;
		bytes = sizeof(head) + head.count * s->event->size;
		if (bytes > f->left - at)
			break;
		count_gap(s, &head);
		if (head.count && !add_records(s, r, f->data + at + sizeof(head), head.count))
			return -ENOMEM;
		at += bytes;
	}
	use(f, at);
	s->begun = true;
	return 0;
}

/* Adds the whole paths; an incomplete one stays for the next read. */
static void take_paths(struct stream *s)
{
	struct stream_file *f = &s->paths;
	struct iot_path_record p;
	size_t at = 0, length;

	while (f->left - at >= sizeof(p)) {
		memcpy(&p, f->data + at, sizeof(p));
		length = sizeof(p) + (((size_t)p.length + 7) & ~(size_t)7);
		if (length > f->left - at)
			break;
		paths_add(&s->names, p.id, f->data + at + sizeof(p), p.length);
		at += length;
	}
	use(f, at);
}

/* Called after records were read: the paths that these name can already be read. */
static int read_paths(struct stream *s)
{
	ssize_t n;

	do {
		take_paths(s);
		n = fill(&s->paths, TEXT_BYTES);
	} while (n > 0);
	return n;
}

int stream_list_paths(struct stream *s)
{
	paths_free(&s->names);
	close_file(&s->paths);
	return open_paths(s) ? -EIO : read_paths(s);
}

int stream_read(struct stream *s, struct records *r, size_t most)
{
	int err = take_blocks(s, r);
	ssize_t n = 1;

	while (!err && n > 0 && r->nr < most) {
		n = fill(&s->blocks, READ_BYTES);
		err = n < 0 ? n : take_blocks(s, r);
	}
	if (!err && !n && s->blocks.left)
		err = -EBADMSG;
	return err || s->paths.fd < 0 ? err : read_paths(s);
}

/* --- order ---------------------------------------------------------------------------------- */

/* Where records have the fields by which they are sorted: looking them up is what a sort would cost. */
struct order {
	unsigned int seq, time;	/* offsets */
	unsigned int latency;	/* offset; 0: by begin */
};

static __u64 u64_at(const void *record, unsigned int offset)
{
	return record_scalar(record, offset, sizeof(__u64));
}

static __u64 time_of(const void *record, const struct order *o)
{
	return u64_at(record, o->time) + (o->latency ? u64_at(record, o->latency) : 0);
}

static int compare(const void *a, const void *b, void *data)
{
	const struct order *o = data;
	__u64 x = time_of(a, o), y = time_of(b, o);

	if (x == y) {
		x = u64_at(a, o->seq);
		y = u64_at(b, o->seq);
	}
	return x < y ? -1 : x > y;
}

static void sort(const struct stream *s, struct records *r, bool by_end)
{
	struct order order = {
		.seq = record_field(s->event, "seq")->offset,
		.time = record_field(s->event, "time")->offset,
		.latency = by_end ? record_field(s->event, "latency")->offset : 0,
	};
	size_t size = s->event->size, i;

	/* those of one CPU often come in order */
	for (i = 1; i < r->nr && compare(r->data + (i - 1) * size, r->data + i * size, &order) <= 0; i++)
		;
	if (i < r->nr)
		qsort_r(r->data, r->nr, size, compare, &order);
}

void stream_sort(const struct stream *s, struct records *r)
{
	sort(s, r, s->category);
}

void stream_sort_by_begin(const struct stream *s, struct records *r)
{
	sort(s, r, false);
}

/*
 * Records of event io are in one ring. Their seqs tell what is missing after the first of them.
 * Before it they are an upper bound only, since reset starts a new ring but does not restart seq:
 * there the counts of stats are used.
 */
__u64 stream_missing(const struct stream *s, bool followed)
{
	__u64 missing;

	if (s->category && followed)
		return s->before + s->gaps;
	missing = not_kept(s);
	if (s->category)
		return missing;
	if (s->started && missing > s->first + s->gaps)
		missing = s->first + s->gaps;
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
