// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of an image map the guest's clusters to the file, not the reverse. So all tables are
 * read, and the pieces in the wanted range of the file are collected, sorted and printed. If there
 * are more pieces than fit into the collection, the first half is printed, and the tables with
 * pieces in the rest of the range are read again.
 *
 * The work is bounded by the space that the file occupies. Holes are skipped. An L2 table is read
 * once however many entries refer to it, and belongs to the first of them. An image whose L1 tables
 * overlap, or that uses a refcount block twice, is refused.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "vm/qcow2_host.h"

#define FOUND_MAX	(1u << 20)	/* pieces; 40 MiB with the heap */
#define TABLES_MAX	(1u << 22)	/* L2 tables: 200 MiB; with 64 KiB clusters they map 2 PiB */
#define L1_ENTRIES_MAX	(32u << 20 >> 3)

static const char *const names[QCOW2_USES] = {
	[USE_HEADER] = "header", [USE_L1] = "l1", [USE_L2] = "l2",
	[USE_REFCOUNT_TABLE] = "refcount-table", [USE_REFCOUNT_BLOCK] = "refcount-block",
	[USE_SNAPSHOT_TABLE] = "snapshot-table", [USE_SNAPSHOT_L1] = "snapshot-l1",
	[USE_SNAPSHOT_L2] = "snapshot-l2", [USE_DATA] = "data", [USE_COMPRESSED] = "compressed",
	[USE_ZERO] = "zero", [USE_SNAPSHOT_DATA] = "snapshot-data", [USE_STATE] = "vm-state",
	[USE_UNALLOCATED] = "unallocated", [USE_OTHER] = "other", [USE_UNUSED] = "unused",
};

const char *qcow2_use_name(enum qcow2_use use)
{
	return names[use];
}

bool qcow2_region_join(struct qcow2_region *last, const struct qcow2_region *next)
{
	bool plain = next->use != USE_COMPRESSED && next->guest_length == next->length &&
		     last->guest_length == last->length;

	if (last->host + last->length != next->host || last->use != next->use ||
	    last->has_guest != next->has_guest)
		return false;
	if (next->has_guest && (!plain || last->guest + last->length != next->guest))
		return false;
	last->length += next->length;
	last->guest_length += next->guest_length;
	return true;
}

struct found {
	__u64 start, end;	/* in the file */
	__u64 guest;
	enum qcow2_use use;
	bool packed;		/* compressed: it stores a whole cluster of the guest */
};

/* An L2 table. */
struct table {
	__u64 at;
	__u64 guest;		/* the guest's offset of its first entry */
	__u64 disk;		/* size of the disk or the snapshot; above it is the VM's state */
	__u64 lo, hi;		/* range of the file that its entries refer to, if @read */
	bool snapshot, read;
};

/* A hash set of numbers. 0 marks a free slot. */
struct set {
	__u64 *at;
	size_t size, nr;	/* slots, a power of two; slots in use */
};

struct collection {
	struct qcow2 *q;
	struct table *tables;
	size_t nr_tables, tables_room;
	struct set known;	/* offsets of L2 tables */
	__u64 begin, end;	/* the range of the file that is collected */
	struct found *at;
	size_t nr;
	bool full;		/* a single cluster has more pieces than fit */
};

static bool is_of_guest(enum qcow2_use use)
{
	return use == USE_DATA || use == USE_COMPRESSED || use == USE_ZERO || use == USE_SNAPSHOT_DATA ||
	       use == USE_UNALLOCATED || use == USE_L2 || use == USE_SNAPSHOT_L2;
}

/* --- sets ------------------------------------------------------------------ */

#define SET_LEAST	1024

static __u64 *set_find(const struct set *s, __u64 number)
{
	size_t i = (number * 0x9e3779b97f4a7c15ULL >> 32) & (s->size - 1);

	while (s->at[i] && s->at[i] != number)
		i = (i + 1) & (s->size - 1);
	return &s->at[i];
}

static void set_grow(struct set *s)
{
	struct set old = *s;
	size_t i;

	s->size = old.size ? 2 * old.size : SET_LEAST;
	s->at = xreallocarray(NULL, s->size, sizeof(*s->at));
	memset(s->at, 0, s->size * sizeof(*s->at));
	for (i = 0; i < old.size; i++)
		if (old.at[i])
			*set_find(s, old.at[i]) = old.at[i];
	free(old.at);
}

/* False if the number is in the set already. */
static bool set_add(struct set *s, __u64 number)
{
	__u64 *place;

	if (4 * s->nr >= 3 * s->size)
		set_grow(s);
	place = set_find(s, number);
	if (*place)
		return false;
	*place = number;
	s->nr++;
	return true;
}

/* --- pieces ---------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->use != b->use)
		return a->use < b->use ? -1 : 1;
	if (a->guest != b->guest)
		return a->guest < b->guest ? -1 : 1;
	return 0;
}

static void sort(struct collection *c)
{
	size_t i, nr = 0;

	qsort(c->at, c->nr, sizeof(*c->at), compare);
	for (i = 0; i < c->nr; i++)
		if (!nr || c->at[nr - 1].start != c->at[i].start || c->at[nr - 1].end != c->at[i].end)
			c->at[nr++] = c->at[i];
	c->nr = nr;
}

/* Makes room by lowering the end of the range: a later pass collects the pieces behind it. */
static void drop_last(struct collection *c)
{
	__u64 end;

	sort(c);
	if (c->nr <= FOUND_MAX / 2)
		return;
	end = c->at[FOUND_MAX / 2].start & ~(qcow2_cluster(c->q) - 1);
	c->full = end <= c->begin;
	while (!c->full && c->nr && c->at[c->nr - 1].start >= end)
		c->nr--;
	if (!c->full)
		c->end = end;
}

static void add(struct collection *c, enum qcow2_use use, __u64 start, __u64 length, __u64 guest)
{
	if (start >= c->end || length <= (start < c->begin ? c->begin - start : 0))
		return;
	if (c->nr == FOUND_MAX)
		drop_last(c);
	if (!c->full && start < c->end)
		c->at[c->nr++] = (struct found){ start, start + length, guest, use, false };
}

static void add_packed(struct collection *c, enum qcow2_use use, const struct qcow2_piece *piece,
		       __u64 guest)
{
	struct found *last;

	add(c, use, piece->host, piece->host_length, guest);
	last = c->nr ? &c->at[c->nr - 1] : NULL;
	if (last && last->start == piece->host && last->use == use)
		last->packed = true;
}

/* Tables begin at a cluster, and occupy whole clusters. */
static void add_table(struct collection *c, enum qcow2_use use, __u64 at, __u64 bytes, __u64 guest)
{
	__u64 size = qcow2_cluster(c->q);

	if (bytes)
		add(c, use, at, (bytes + size - 1) & ~(size - 1), guest);
}

static enum qcow2_use use_of(const struct table *t, const struct qcow2_piece *piece, __u64 guest)
{
	static const enum qcow2_use uses[] = {
		[QCOW2_UNALLOCATED] = USE_UNALLOCATED, [QCOW2_ZERO] = USE_ZERO, [QCOW2_DATA] = USE_DATA,
		[QCOW2_COMPRESSED] = USE_COMPRESSED,
	};

	if (guest >= t->disk)
		return USE_STATE;
	return t->snapshot && piece->kind != QCOW2_UNALLOCATED ? USE_SNAPSHOT_DATA : uses[piece->kind];
}

static void add_piece(struct collection *c, struct table *t, const struct qcow2_piece *piece, __u64 host,
		      __u64 guest)
{
	enum qcow2_use use = use_of(t, piece, guest);
	__u64 length = piece->kind == QCOW2_COMPRESSED ? piece->host_length : piece->length;

	if (host < t->lo)
		t->lo = host;
	if (host + length > t->hi)
		t->hi = host + length;
	if (piece->kind == QCOW2_COMPRESSED)
		add_packed(c, use, piece, guest);
	else
		add(c, use, host, length, guest);
}

/* Adds the pieces of a cluster, several with subclusters. Unallocated ones occupy space, too. */
static char *collect_entry(struct collection *c, struct table *t, const __u64 entry[2], __u64 guest)
{
	__u64 host = entry[0] & QCOW2_OFFSET, inside;
	struct qcow2_piece piece;
	char *why;

	for (inside = 0; inside < qcow2_cluster(c->q); inside += piece.length) {
		why = qcow2_decode(c->q, entry, guest + inside, &piece);
		if (why)
			return why;
		if (piece.kind == QCOW2_COMPRESSED)
			add_piece(c, t, &piece, piece.host, guest);
		else if (host && !c->q->has_data_file)
			add_piece(c, t, &piece, host + inside, guest + inside);
	}
	return NULL;
}

static char *collect_l2(struct collection *c, struct table *t)
{
	struct qcow2_l2 l2 = { .table = t->at };
	__u64 entry[2], index, nr = qcow2_l2_entries(c->q);
	char *why;

	add(c, t->snapshot ? USE_SNAPSHOT_L2 : USE_L2, t->at, qcow2_cluster(c->q), t->guest);
	if (t->read && (t->hi <= c->begin || t->lo >= c->end))
		return NULL;
	t->lo = t->read ? t->lo : ~0ULL;
	t->read = true;
	do {
		why = qcow2_l2_next(c->q, &l2, &index, entry);
		if (!why && index < nr && (entry[0] || entry[1]))
			why = collect_entry(c, t, entry, t->guest + (index << c->q->cluster_bits));
	} while (!why && !c->full && index < nr);
	return why;
}

static char *collect_refcounts(struct collection *c)
{
	__u64 i, block, nr = qcow2_refcount_entries(c->q);
	struct set blocks = { 0 };
	char *why = NULL;

	add_table(c, USE_REFCOUNT_TABLE, c->q->refcounts, nr * 8, 0);
	for (i = 0; !why && i < nr; i++) {
		why = qcow2_refcount_block(c->q, i, &block);
		if (why || !block)
			continue;
		if (!set_add(&blocks, block))
			why = xasprintf("is damaged: its refcount block at %llu is used twice", block);
		add(c, USE_REFCOUNT_BLOCK, block, qcow2_cluster(c->q), 0);
	}
	free(blocks.at);
	return why;
}

static char *collect(struct collection *c)
{
	const struct qcow2 *q = c->q;
	char *why;
	size_t i;

	c->nr = 0;
	c->full = false;
	add(c, USE_HEADER, 0, qcow2_cluster(q), 0);
	why = collect_refcounts(c);
	add_table(c, USE_L1, q->l1, q->l1_entries * 8ULL, 0);
	for (i = 0; i < q->nr_snapshots; i++)
		add_table(c, USE_SNAPSHOT_L1, q->snapshots[i].l1, q->snapshots[i].l1_entries * 8ULL, 0);
	for (i = 0; !why && !c->full && i < c->nr_tables; i++)
		why = collect_l2(c, &c->tables[i]);
	if (q->nr_snapshots)
		add_table(c, USE_SNAPSHOT_TABLE, q->snapshot_table, q->snapshot_bytes, 0);
	return why;
}

/* --- the list of tables ----------------------------------------------------- */

static char *list_table(struct collection *c, __u64 at, __u64 guest, __u64 disk, bool snapshot)
{
	if (!set_add(&c->known, at))
		return NULL;
	if (c->nr_tables == TABLES_MAX)
		return xasprintf("has more than %u L2 tables, too many to be mapped", TABLES_MAX);
	if (c->nr_tables == c->tables_room) {
		c->tables_room = c->tables_room ? 2 * c->tables_room : 1024;
		c->tables = xreallocarray(c->tables, c->tables_room, sizeof(*c->tables));
	}
	c->tables[c->nr_tables++] = (struct table){
		.at = at, .guest = guest, .disk = disk, .snapshot = snapshot,
	};
	return NULL;
}

static char *list_l1(struct collection *c, __u64 l1, __u32 entries, __u64 disk, bool snapshot)
{
	__u64 end = l1 + entries * 8ULL, at, stop = 0, entry, table = 0, i;
	char *why = NULL;

	for (at = l1; !why && at < end; at += 8) {
		if (at >= stop)
			at = qcow2_data(c->q, at, end, &stop) & ~7ULL;
		if (at >= end)
			break;
		i = (at - l1) / 8;
		why = qcow2_entry(c->q, &c->q->l1_window, l1, i, &entry);
		if (!why)
			why = qcow2_l2_of(c->q, entry, &table);
		if (!why && table)
			why = list_table(c, table, i * qcow2_l2_entries(c->q) << c->q->cluster_bits, disk, snapshot);
	}
	return why;
}

static char *check_l1(struct qcow2 *q, const struct qcow2_snapshot *s)
{
	if (s->l1_entries > L1_ENTRIES_MAX || s->l1 & (qcow2_cluster(q) - 1) ||
	    !qcow2_has(q, s->l1, s->l1_entries * 8ULL))
		return xasprintf("is damaged: the L1 table of a snapshot, %u entries at %llu, is not in the file",
				 s->l1_entries, s->l1);
	return NULL;
}

static int by_l1(const void *left, const void *right)
{
	const struct qcow2_snapshot *a = left, *b = right;

	return a->l1 < b->l1 ? -1 : a->l1 > b->l1;
}

/* Refuses L1 tables that overlap: the same bytes would be read once for each table. */
static char *check_overlaps(const struct qcow2 *q)
{
	size_t i, nr = q->nr_snapshots + 1;
	struct qcow2_snapshot *all = xreallocarray(NULL, nr, sizeof(*all));
	const struct qcow2_snapshot *last = NULL;
	char *why = NULL;

	if (q->nr_snapshots)
		memcpy(all, q->snapshots, q->nr_snapshots * sizeof(*all));
	all[nr - 1] = (struct qcow2_snapshot){ .l1 = q->l1, .l1_entries = q->l1_entries };
	qsort(all, nr, sizeof(*all), by_l1);
	for (i = 0; !why && i < nr; i++) {
		if (!all[i].l1_entries)
			continue;
		if (last && last->l1 + last->l1_entries * 8ULL > all[i].l1)
			why = xasprintf("is damaged: its L1 tables at %llu and %llu overlap", last->l1, all[i].l1);
		last = &all[i];
	}
	free(all);
	return why;
}

static char *list_tables(struct collection *c)
{
	struct qcow2 *q = c->q;
	char *why = NULL;
	__u32 i;

	for (i = 0; !why && i < q->nr_snapshots; i++)
		why = check_l1(q, &q->snapshots[i]);
	if (!why)
		why = check_overlaps(q);
	if (!why)
		why = list_l1(c, q->l1, q->l1_entries, q->size, false);
	for (i = 0; !why && i < q->nr_snapshots; i++)
		why = list_l1(c, q->snapshots[i].l1, q->snapshots[i].l1_entries, q->snapshots[i].disk, true);
	return why;
}

/* --- printing in order ----------------------------------------------------- */

struct printer {
	struct qcow2 *q;
	__u64 host, end;	/* the wanted range of the file */
	void (*put)(const struct qcow2_region *region, void *data);
	void *data;
};

static void print(const struct printer *p, enum qcow2_use use, __u64 start, __u64 end,
		  const struct found *f)
{
	struct qcow2_region r = { .use = use, .has_guest = f && is_of_guest(use) };
	bool is_table = use == USE_L2 || use == USE_SNAPSHOT_L2;

	start = start < p->host ? p->host : start;
	end = end > p->end ? p->end : end;
	if (start >= end)
		return;
	r.host = start;
	r.length = end - start;
	if (r.has_guest) {
		bool whole = is_table || f->packed;

		r.guest = f->guest + (whole ? 0 : start - f->start);
		r.guest_length = !whole ? r.length :
				 is_table ? qcow2_l2_entries(p->q) << p->q->cluster_bits : qcow2_cluster(p->q);
	}
	p->put(&r, p->data);
}

/* No table refers to these bytes. Part of a cluster, beside compressed data, is unused. */
static char *print_gap(const struct printer *p, __u64 start, __u64 end)
{
	__u64 size = qcow2_cluster(p->q), stop;
	char *why = NULL;

	if (start < (p->host & ~(size - 1)))
		start = p->host & ~(size - 1);
	for (; !why && start < end && start < p->end; start = stop) {
		bool whole = !(start & (size - 1)) && end - start >= size, used = false;

		/* up to the end of the last whole cluster, or to the next cluster */
		stop = whole ? end & ~(size - 1) : (start | (size - 1)) + 1;
		if (stop > end)
			stop = end;
		if (whole)
			why = qcow2_refcount(p->q, start, &stop, &used);
		if (!why)
			print(p, used ? USE_OTHER : USE_UNUSED, start, stop, NULL);
	}
	return why;
}

/* Whether @a takes precedence over @b where they overlap. */
static bool is_before(const struct found *a, const struct found *b)
{
	if (a->use != b->use)
		return a->use < b->use;
	/* compressed data may end in the sector in which the next one begins */
	if (a->packed && a->start != b->start)
		return a->start > b->start;
	return a->guest < b->guest;
}

/* A heap of the pieces that begin at or before an offset. The one with precedence is first. */
struct heap {
	const struct found **at;
	size_t nr;
};

static void heap_push(struct heap *h, const struct found *f)
{
	size_t i = h->nr++;

	for (; i && is_before(f, h->at[(i - 1) / 2]); i = (i - 1) / 2)
		h->at[i] = h->at[(i - 1) / 2];
	h->at[i] = f;
}

static void heap_pop(struct heap *h)
{
	const struct found *last = h->at[--h->nr];
	size_t i = 0, child;

	for (; 2 * i + 1 < h->nr; i = child) {
		child = 2 * i + 1;
		if (child + 1 < h->nr && is_before(h->at[child + 1], h->at[child]))
			child++;
		if (!is_before(h->at[child], last))
			break;
		h->at[i] = h->at[child];
	}
	h->at[i] = last;
}

/* Prints the heap's first piece from @at on, and returns its end. @next: the next one to push. */
static __u64 print_one(const struct printer *p, struct collection *c, struct heap *h, size_t *next, __u64 at)
{
	const struct found *f = h->at[0];
	__u64 stop = f->end < c->end ? f->end : c->end;

	for (; *next < c->nr && c->at[*next].start < stop; ++*next) {
		if (is_before(&c->at[*next], f)) {
			stop = c->at[*next].start;
			break;
		}
		heap_push(h, &c->at[*next]);
	}
	print(p, f->use, at, stop, f);
	return stop;
}

static char *print_collection(const struct printer *p, struct collection *c, struct heap *h)
{
	__u64 at = c->begin, stop;
	size_t next = 0;
	char *why = NULL;

	sort(c);
	h->nr = 0;
	while (!why && at < c->end) {
		for (; next < c->nr && c->at[next].start <= at; next++)
			heap_push(h, &c->at[next]);
		while (h->nr && h->at[0]->end <= at)
			heap_pop(h);
		if (h->nr) {
			at = print_one(p, c, h, &next, at);
			continue;
		}
		stop = next < c->nr && c->at[next].start < c->end ? c->at[next].start : c->end;
		why = print_gap(p, at, stop);
		at = stop;
	}
	return why;
}

static char *print_all(const struct printer *p, struct collection *c)
{
	struct heap heap = { .at = xreallocarray(NULL, FOUND_MAX, sizeof(*heap.at)) };
	__u64 size = qcow2_cluster(p->q);
	char *why = NULL;

	c->at = xreallocarray(NULL, FOUND_MAX, sizeof(*c->at));
	for (c->begin = p->host & ~(size - 1); !why && c->begin < p->end; c->begin = c->end) {
		/* round up to whole clusters */
		c->end = ((p->end - 1) | (size - 1)) + 1;
		why = collect(c);
		if (!why && c->full)
			why = xasprintf("is damaged: too many entries refer to the cluster at %llu", c->begin);
		if (!why)
			why = print_collection(p, c, &heap);
	}
	free(heap.at);
	free(c->at);
	return why;
}

char *qcow2_regions(struct qcow2 *q, __u64 host, __u64 end,
		    void (*put)(const struct qcow2_region *region, void *data), void *data)
{
	struct printer p = { q, host, end, put, data };
	struct collection c = { .q = q };
	char *why = list_tables(&c);

	if (!why)
		why = print_all(&p, &c);
	free(c.tables);
	free(c.known.at);
	return why;
}
