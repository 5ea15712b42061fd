// SPDX-License-Identifier: GPL-2.0
/*
 * An image says which clusters of the file a guest's cluster is in, and not the reverse. So all of
 * its tables are read, and what lies in the range is collected, sorted and printed. A range of
 * which more is said than fits into the collection is taken in halves.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "qcow2_host.h"

#define CHUNK_CLUSTERS	(1u << 20)
#define FOUND_MAX	(1u << 20)	/* 32 MiB */

#define SNAPSHOT_HEADER	56	/* with the first two fields of what version 3 added */
#define SNAPSHOT_FIXED	40
#define SNAPSHOTS_BYTES	(64u << 20)	/* of all entries of the snapshot table */
#define L1_ENTRIES_MAX	(32u << 20 >> 3)

static const char *const names[QCOW2_USES] = {
	[USE_HEADER] = "header", [USE_L1] = "l1", [USE_L2] = "l2",
	[USE_REFCOUNT_TABLE] = "refcount-table", [USE_REFCOUNT_BLOCK] = "refcount-block",
	[USE_SNAPSHOT_TABLE] = "snapshot-table", [USE_SNAPSHOT_L1] = "snapshot-l1",
	[USE_SNAPSHOT_L2] = "snapshot-l2", [USE_DATA] = "data", [USE_COMPRESSED] = "compressed",
	[USE_ZERO] = "zero", [USE_SNAPSHOT_DATA] = "snapshot-data", [USE_STATE] = "vm-state",
	[USE_OTHER] = "other", [USE_UNUSED] = "unused",
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
	bool packed;		/* compressed: it is that of a whole cluster of the guest */
};

struct collection {
	struct qcow2 *q;
	__u64 begin, end;	/* of what is collected */
	__u64 disk;		/* size of the disk, now or as of a snapshot; above it is its state */
	struct found *at;
	size_t nr;
	bool full;
};

static bool is_of_guest(enum qcow2_use use)
{
	return use == USE_DATA || use == USE_COMPRESSED || use == USE_ZERO || use == USE_SNAPSHOT_DATA ||
	       use == USE_L2 || use == USE_SNAPSHOT_L2;
}

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

static void add(struct collection *c, enum qcow2_use use, __u64 start, __u64 length, __u64 guest)
{
	if (start >= c->end || length <= (start < c->begin ? c->begin - start : 0))
		return;
	if (c->nr == FOUND_MAX) {
		sort(c);
		c->full = c->nr > FOUND_MAX / 2;
		if (c->full)
			return;
	}
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

static __u64 cluster_size(const struct qcow2 *q)
{
	return 1ULL << q->cluster_bits;
}

/* Tables begin with a cluster, and have the rest of their last one. */
static void add_table(struct collection *c, enum qcow2_use use, __u64 at, __u64 bytes, __u64 guest)
{
	__u64 size = cluster_size(c->q);

	if (bytes)
		add(c, use, at, (bytes + size - 1) & ~(size - 1), guest);
}

/* With subclusters the first one may be unallocated, and the cluster has its place all the same. */
static void add_cluster(struct collection *c, const struct qcow2_piece *piece, const __u64 entry[2],
			__u64 guest, bool snapshot)
{
	static const enum qcow2_use uses[] = {
		[QCOW2_UNALLOCATED] = USE_DATA, [QCOW2_ZERO] = USE_ZERO, [QCOW2_DATA] = USE_DATA,
		[QCOW2_COMPRESSED] = USE_COMPRESSED,
	};
	enum qcow2_use use = guest >= c->disk ? USE_STATE : snapshot ? USE_SNAPSHOT_DATA : uses[piece->kind];
	__u64 host = entry[0] & QCOW2_OFFSET;

	if (c->q->extended && use == USE_ZERO)
		use = USE_DATA;
	if (piece->kind == QCOW2_COMPRESSED)
		add_packed(c, use, piece, guest);
	else if (host && !c->q->has_data_file)
		add(c, use, host, cluster_size(c->q), guest);
}

static char *collect_l2(struct collection *c, __u64 table, __u64 guest, bool snapshot)
{
	__u64 i, entry[2], nr = qcow2_l2_entries(c->q);
	struct qcow2_piece piece;
	char *why = NULL;

	add(c, snapshot ? USE_SNAPSHOT_L2 : USE_L2, table, cluster_size(c->q), guest);
	for (i = 0; !why && !c->full && i < nr; i++, guest += cluster_size(c->q)) {
		why = qcow2_l2_entry(c->q, table, i, entry);
		if (why || !entry[0])
			continue;
		why = qcow2_decode(c->q, entry, 0, &piece);
		if (!why)
			add_cluster(c, &piece, entry, guest, snapshot);
	}
	return why;
}

static char *collect_l1(struct collection *c, __u64 l1, __u32 entries, bool snapshot)
{
	__u64 i, entry, table = 0;
	char *why = NULL;

	add_table(c, snapshot ? USE_SNAPSHOT_L1 : USE_L1, l1, entries * 8ULL, 0);
	for (i = 0; !why && !c->full && i < entries; i++) {
		why = qcow2_entry(c->q, &c->q->l1_window, l1, i, &entry);
		if (!why)
			why = qcow2_l2_of(c->q, entry, &table);
		if (!why && table)
			why = collect_l2(c, table, i * qcow2_l2_entries(c->q) << c->q->cluster_bits, snapshot);
	}
	return why;
}

static char *collect_refcounts(struct collection *c)
{
	__u64 bytes = (__u64)c->q->refcount_clusters << c->q->cluster_bits, i, entry;
	char *why = NULL;

	add_table(c, USE_REFCOUNT_TABLE, c->q->refcounts, bytes, 0);
	for (i = 0; !why && i < bytes / 8; i++) {
		why = qcow2_entry(c->q, &c->q->refcount_window, c->q->refcounts, i, &entry);
		if (!why && entry & QCOW2_OFFSET)
			add(c, USE_REFCOUNT_BLOCK, entry & QCOW2_OFFSET, cluster_size(c->q), 0);
	}
	return why;
}

/* The entry of a snapshot at *@at, which becomes the offset of the next one. */
static char *collect_snapshot(struct collection *c, __u64 *at)
{
	unsigned char header[SNAPSHOT_HEADER] = "";
	__u64 l1, length;
	__u32 entries;

	if (pread(c->q->fd, header, sizeof(header), *at) < SNAPSHOT_FIXED)
		return cli_printf("is damaged: its snapshot table at %llu is cut off", c->q->snapshots);
	l1 = qcow2_u64(header);
	entries = qcow2_u32(header + 8);
	c->disk = qcow2_u32(header + 36) >= 16 ? qcow2_u64(header + 48) : c->q->size;
	length = SNAPSHOT_FIXED + (__u64)qcow2_u32(header + 36) + (header[12] << 8 | header[13]) +
		 (header[14] << 8 | header[15]);
	*at += (length + 7) & ~7ULL;
	if (*at - c->q->snapshots > SNAPSHOTS_BYTES)
		return cli_strdup("is damaged: its snapshot table has more than 64 MiB");
	if (entries > L1_ENTRIES_MAX || l1 & (cluster_size(c->q) - 1) ||
	    l1 > c->q->file_size || entries * 8ULL > c->q->file_size - l1)
		return cli_printf("is damaged: the L1 table of a snapshot, %u entries at %llu, is not in the file",
				  entries, l1);
	return collect_l1(c, l1, entries, true);
}

static char *collect(struct collection *c)
{
	__u64 at = c->q->snapshots;
	char *why;
	__u32 i;

	c->nr = 0;
	c->full = false;
	c->disk = c->q->size;
	add(c, USE_HEADER, 0, cluster_size(c->q), 0);
	why = collect_refcounts(c);
	if (!why)
		why = collect_l1(c, c->q->l1, c->q->l1_entries, false);
	for (i = 0; !why && !c->full && i < c->q->nr_snapshots; i++)
		why = collect_snapshot(c, &at);
	if (c->q->nr_snapshots)
		add_table(c, USE_SNAPSHOT_TABLE, c->q->snapshots, at - c->q->snapshots, 0);
	return why;
}

/* --- what was collected, in order ------------------------------------------ */

struct printer {
	struct qcow2 *q;
	__u64 host, end;	/* what was asked for */
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
				 is_table ? qcow2_l2_entries(p->q) << p->q->cluster_bits : cluster_size(p->q);
	}
	p->put(&r, p->data);
}

/* Nothing refers to these bytes. Beside compressed data in its cluster, they are not used. */
static char *print_gap(const struct printer *p, __u64 start, __u64 end)
{
	__u64 size = cluster_size(p->q), stop, count;
	char *why = NULL;

	for (; !why && start < end; start = stop) {
		bool whole = !(start & (size - 1)) && end - start >= size;

		stop = (start | (size - 1)) + 1;
		if (stop > end)
			stop = end;
		if (stop <= p->host || start >= p->end)
			continue;
		count = 0;
		if (whole)
			why = qcow2_refcount(p->q, start, &count);
		if (!why)
			print(p, count ? USE_OTHER : USE_UNUSED, start, stop, NULL);
	}
	return why;
}

static char *print_collection(const struct printer *p, struct collection *c)
{
	__u64 at = c->begin;
	char *why = NULL;
	size_t i;

	sort(c);
	for (i = 0; !why && i < c->nr && c->at[i].start < c->end; i++) {
		const struct found *f = &c->at[i];
		__u64 start = f->start > at ? f->start : at;
		__u64 end = f->end < c->end ? f->end : c->end;

		/* compressed data may end in the sector in which the next begins */
		if (i + 1 < c->nr && c->at[i + 1].start > start && c->at[i + 1].start < end)
			end = c->at[i + 1].start;
		if (end <= at)
			continue;
		why = print_gap(p, at, start);
		print(p, f->use, start, end, f);
		at = end;
	}
	return why ? why : print_gap(p, at, c->end);
}

char *qcow2_regions(struct qcow2 *q, __u64 host, __u64 end,
		    void (*put)(const struct qcow2_region *region, void *data), void *data)
{
	struct printer p = { q, host, end, put, data };
	struct collection c = { .q = q, .begin = host & ~(cluster_size(q) - 1) };
	__u64 clusters = CHUNK_CLUSTERS;
	char *why = NULL;

	c.at = cli_grow(NULL, FOUND_MAX, sizeof(*c.at));
	while (!why && c.begin < end) {
		c.end = c.begin + (clusters << q->cluster_bits);
		/* whole clusters: what is asked for ends in one */
		if (c.end > end)
			c.end = ((end - 1) | (cluster_size(q) - 1)) + 1;
		why = collect(&c);
		if (!why && c.full && clusters == 1)
			why = cli_printf("is damaged: much too much refers to the cluster at %llu", c.begin);
		if (!why && c.full) {
			clusters = clusters / 2;
			continue;
		}
		if (!why)
			why = print_collection(&p, &c);
		c.begin = c.end;
	}
	free(c.at);
	return why;
}
