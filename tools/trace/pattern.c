// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "trace/pattern.h"
#include "uapi/iotracer.h"

const char *const pattern_kinds[PATTERN_KINDS] = { "read", "write" };
const unsigned int pattern_alignments[PATTERN_ALIGNMENTS] = { 512, 4096, 65536, 1048576 };
const char *const pattern_orders[PATTERN_ORDERS + 1] = {
	[PATTERN_SEQUENTIAL] = "sequential", [PATTERN_STRIDED] = "strided", [PATTERN_SAME] = "same",
	[PATTERN_RANDOM] = "random", [PATTERN_FIRST] = "first",
};

enum { READS, WRITES };

/* What a stream is of. There are no holes: it is a key as bytes. */
struct stream_name {
	__u64 inode, source;
	__u32 device, thread;
	__u64 kind;
};

/* --- the rows ------------------------------------------------------------------- */

void patterns_open(struct patterns *p, struct stats_keys *keys, const struct iot_schema_event *event)
{
	*p = (struct patterns){ .with_command = stats_keys_have_command(keys) };
	positions_open(&p->positions, event);
	if (event->id == IOT_EVENT_ID_BLOCK)
		p->held = xreallocarray(NULL, PATTERN_HELD, sizeof(*p->held));
	key_table_open(&p->table, keys);
}

static struct pattern_row *new_row(struct patterns *p)
{
	struct pattern_row *row;
	unsigned int kind;

	if (p->nr == p->room) {
		p->room = p->room + p->room / 2 + 64;
		p->rows = xreallocarray(p->rows, p->room, sizeof(*p->rows));
	}
	row = &p->rows[p->nr];
	*row = (struct pattern_row){ .key = p->nr++, .lowest = ~0ULL, .earliest = ~0ULL };
	for (kind = 0; kind < PATTERN_KINDS; kind++)
		row->kinds[kind].least = ~0ULL;
	return row;
}

void patterns_open_placed(struct patterns *p, size_t nr)
{
	*p = (struct patterns){ .held = xreallocarray(NULL, PATTERN_HELD, sizeof(*p->held)) };
	while (nr--)
		new_row(p);
}

static struct pattern_row *row_of(struct patterns *p, const void *record)
{
	__u32 key = key_table_add(&p->table, record);
	struct pattern_row *row;

	if (key < p->nr)
		return &p->rows[key];
	row = new_row(p);
	if (p->with_command)
		stats_keys_command(p->table.keys, row->command, record);
	return row;
}

/* --- the order of accesses ------------------------------------------------------ */

static enum pattern_order order_of(const struct pattern_stream *s, __u64 start)
{
	if (!s->begun)
		return PATTERN_FIRST;
	if (start == s->end)
		return PATTERN_SEQUENTIAL;
	if (start == s->start)
		return PATTERN_SAME;
	return s->far && start - s->start == s->distance ? PATTERN_STRIDED : PATTERN_RANDOM;
}

static void take(struct patterns *p, const struct pattern_access *a)
{
	struct pattern_stream *s = &p->streams[a->stream];
	struct stream_name name;
	struct pattern_part *part;
	size_t length;

	memcpy(&name, intern_bytes(&p->names, a->stream, &length), sizeof(name));
	part = &p->rows[a->key].kinds[name.kind].orders[order_of(s, a->start)];
	part->count += a->weight;
	part->bytes += a->weight * a->bytes;
	*s = (struct pattern_stream){
		.start = a->start, .end = a->start + a->bytes, .distance = a->start - s->start,
		.begun = true, .far = s->begun,
	};
}

static bool is_earlier(const struct pattern_access *x, const struct pattern_access *y)
{
	return x->time != y->time ? x->time < y->time : x->arrival < y->arrival;
}

/* Puts @a at the top of the heap's part below @i, whose place is free. */
static void sift_down(struct patterns *p, size_t i, const struct pattern_access *a)
{
	size_t child;

	while ((child = 2 * i + 1) < p->nr_held) {
		if (child + 1 < p->nr_held && is_earlier(&p->held[child + 1], &p->held[child]))
			child++;
		if (!is_earlier(&p->held[child], a))
			break;
		p->held[i] = p->held[child];
		i = child;
	}
	p->held[i] = *a;
}

static void hold(struct patterns *p, const struct pattern_access *a)
{
	size_t i;

	if (p->nr_held == PATTERN_HELD && is_earlier(a, &p->held[0])) {
		take(p, a);
		return;
	}
	if (p->nr_held == PATTERN_HELD) {
		take(p, &p->held[0]);
		sift_down(p, 0, a);
		return;
	}
	for (i = p->nr_held++; i && is_earlier(a, &p->held[(i - 1) / 2]); i = (i - 1) / 2)
		p->held[i] = p->held[(i - 1) / 2];
	p->held[i] = *a;
}

static void take_held(struct patterns *p)
{
	struct pattern_access last;

	while (p->nr_held) {
		take(p, &p->held[0]);
		last = p->held[--p->nr_held];
		if (p->nr_held)
			sift_down(p, 0, &last);
	}
}

/* --- records -------------------------------------------------------------------- */

static __u32 stream_of(struct patterns *p, const struct position *at, __u64 source)
{
	const struct stream_name name = {
		.inode = at->inode, .source = source, .device = at->device, .thread = at->thread,
		.kind = at->kind == POSITION_WRITE ? WRITES : READS,
	};
	size_t before = p->names.nr;
	__u32 stream = intern_add(&p->names, &name, sizeof(name));

	if (p->names.nr == before)
		return stream;
	if (stream >= p->room_streams) {
		p->room_streams = p->room_streams + p->room_streams / 2 + 64;
		p->streams = xreallocarray(p->streams, p->room_streams, sizeof(*p->streams));
	}
	p->streams[stream] = (struct pattern_stream){ .begun = false };
	return stream;
}

static void count(struct pattern_kind *k, const struct pattern_access *a)
{
	unsigned int i;

	k->count += a->weight;
	k->bytes += a->weight * a->bytes;
	if (a->bytes < k->least)
		k->least = a->bytes;
	if (a->bytes > k->most)
		k->most = a->bytes;
	distribution_add(&k->sizes, a->bytes, a->weight);
	for (i = 0; i < PATTERN_ALIGNMENTS; i++)
		if (!((a->start | a->bytes) & (pattern_alignments[i] - 1)))
			k->aligned[i] += a->weight;
}

static void widen(__u64 *least, __u64 *most, __u64 n)
{
	*least = n < *least ? n : *least;
	*most = n > *most ? n : *most;
}

static void place(struct patterns *p, struct pattern_row *row, const struct position *at, const struct measure *m,
		  __u64 source)
{
	const struct pattern_access a = {
		.time = m->time, .weight = m->weight, .start = at->start, .bytes = at->bytes,
		.key = row - p->rows, .stream = stream_of(p, at, source), .arrival = p->count,
	};

	p->count += m->weight;
	count(&row->kinds[at->kind == POSITION_WRITE ? WRITES : READS], &a);
	widen(&row->lowest, &row->highest, a.start);
	widen(&row->earliest, &row->latest, a.time);
	if (p->held)
		hold(p, &a);
	else
		take(p, &a);
}

void patterns_place(struct patterns *p, __u32 row, bool write, __u64 start, __u64 bytes, const struct measure *m)
{
	const struct position at = {
		.kind = write ? POSITION_WRITE : POSITION_READ, .inode = row, .start = start, .bytes = bytes,
	};

	place(p, &p->rows[row], &at, m, 0);
}

__u32 patterns_add(struct patterns *p, const void *record, const struct measure *m, __u64 source)
{
	struct position at;
	struct pattern_row *row;

	position_of(&p->positions, record, m, &at);
	if (at.kind == POSITION_MISSING)
		p->unplaced += m->weight;
	if (at.kind != POSITION_READ && at.kind != POSITION_WRITE)
		return PATTERN_LEFT_OUT;
	row = row_of(p, record);
	if (m->error || !at.bytes) {
		*(m->error ? &row->failed : &row->empty) += m->weight;
		*(m->error ? &p->failed : &p->empty) += m->weight;
		return PATTERN_LEFT_OUT;
	}
	place(p, row, &at, m, source);
	return row - p->rows;
}

__u32 patterns_find(struct patterns *p, const void *record, const struct measure *m, struct position *at)
{
	position_of(&p->positions, record, m, at);
	if ((at->kind != POSITION_READ && at->kind != POSITION_WRITE) || m->error || !at->bytes)
		return PATTERN_LEFT_OUT;
	return key_table_add(&p->table, record);
}

/* --- the end -------------------------------------------------------------------- */

struct pattern_part pattern_total(const struct pattern_row *row)
{
	return (struct pattern_part){
		.count = row->kinds[READS].count + row->kinds[WRITES].count,
		.bytes = row->kinds[READS].bytes + row->kinds[WRITES].bytes,
	};
}

struct pattern_part pattern_followers(const struct pattern_kind *kind)
{
	const struct pattern_part *first = &kind->orders[PATTERN_FIRST];

	return (struct pattern_part){ kind->count - first->count, kind->bytes - first->bytes };
}

struct sorting {
	const struct patterns *patterns;
	enum pattern_sort sort;
};

static int fall(__u64 x, __u64 y)
{
	return (x < y) - (x > y);
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct pattern_row *x = a, *y = b;
	const struct sorting *s = data;
	struct pattern_part p = pattern_total(x), q = pattern_total(y);
	int order = s->sort == PATTERN_BY_BYTES ? fall(p.bytes, q.bytes) : 0;

	if (!order && s->sort != PATTERN_BY_NAME)
		order = fall(p.count, q.count);
	return order ? order : key_table_compare(&s->patterns->table, x->key, y->key);
}

static void fold_kind(struct pattern_kind *to, struct pattern_kind *from)
{
	unsigned int i;

	to->count += from->count;
	to->bytes += from->bytes;
	for (i = 0; i <= PATTERN_ORDERS; i++) {
		to->orders[i].count += from->orders[i].count;
		to->orders[i].bytes += from->orders[i].bytes;
	}
	for (i = 0; i < PATTERN_ALIGNMENTS; i++)
		to->aligned[i] += from->aligned[i];
	if (from->least < to->least)
		to->least = from->least;
	if (from->most > to->most)
		to->most = from->most;
	distribution_merge(&to->sizes, &from->sizes);
	distribution_free(&from->sizes);
}

static void fold_rest(struct patterns *p, size_t top)
{
	struct pattern_row *others = &p->rows[top];
	unsigned int kind;
	size_t i;

	others->key = KEY_TEXT_OTHERS;
	others->folded = p->nr - top;
	for (i = top + 1; i < p->nr; i++) {
		others->failed += p->rows[i].failed;
		others->empty += p->rows[i].empty;
		for (kind = 0; kind < PATTERN_KINDS; kind++)
			fold_kind(&others->kinds[kind], &p->rows[i].kinds[kind]);
	}
	p->nr = top + 1;
}

static void find_usual_sizes(struct patterns *p)
{
	unsigned int kind;
	size_t i;

	for (i = 0; i < p->nr; i++)
		for (kind = 0; kind < PATTERN_KINDS; kind++) {
			struct pattern_kind *k = &p->rows[i].kinds[kind];

			k->usual = distribution_mode(&k->sizes, &k->usual_count);
			distribution_free(&k->sizes);
		}
}

void patterns_finish(struct patterns *p, enum pattern_sort sort, size_t top)
{
	struct sorting by = { .patterns = p, .sort = sort };

	take_held(p);
	if (p->nr)
		qsort_r(p->rows, p->nr, sizeof(*p->rows), compare_rows, &by);
	if (top && p->nr > top)
		fold_rest(p, top);
	find_usual_sizes(p);
}

void patterns_finish_placed(struct patterns *p)
{
	take_held(p);
	find_usual_sizes(p);
}

__u32 *patterns_row_of(const struct patterns *p)
{
	__u32 *row_of = xreallocarray(NULL, p->table.names.nr, sizeof(*row_of));
	size_t i;

	for (i = 0; i < p->table.names.nr; i++)
		row_of[i] = p->nr - 1;
	for (i = 0; i < p->nr; i++)
		if (p->rows[i].key != KEY_TEXT_OTHERS)
			row_of[p->rows[i].key] = i;
	return row_of;
}

void patterns_free(struct patterns *p)
{
	unsigned int kind;
	size_t i;

	for (i = 0; i < p->nr; i++)
		for (kind = 0; kind < PATTERN_KINDS; kind++)
			distribution_free(&p->rows[i].kinds[kind].sizes);
	free(p->rows);
	free(p->streams);
	free(p->held);
	intern_free(&p->names);
	key_table_close(&p->table);
}
