// SPDX-License-Identifier: GPL-2.0
/* The header of a qcow2 image, its extensions, and the table of its snapshots. */
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "vm/qcow2.h"

/* QEMU's limits. */
#define L1_ENTRIES_MAX		(32u << 20 >> 3)
#define REFCOUNT_TABLE_MAX	(8u << 20)
#define SNAPSHOTS_MAX		65536
#define SNAPSHOTS_BYTES		(64u << 20)
#define SNAPSHOT_EXTRA_MAX	1024
#define BACKING_MAX		1023
#define BACKING_FORMAT_MAX	15
#define OFFSET_MAX		0x7fffffffffffffffULL

#define HEADER_V2	72
#define HEADER_V3	104
#define HEADER_MOST	112	/* with all fields that are read */

#define SNAPSHOT_FIXED	40
#define SNAPSHOT_READ	56	/* with the first two fields of version 3 */
#define BITMAPS_BYTES	24

#define INCOMPATIBLE_DATA_FILE		(1ULL << 2)
#define INCOMPATIBLE_COMPRESSION	(1ULL << 3)
#define INCOMPATIBLE_EXTENDED		(1ULL << 4)
#define INCOMPATIBLE_KNOWN		0x1fULL		/* and dirty, corrupt */
#define AUTOCLEAR_BITMAPS		(1ULL << 0)
#define AUTOCLEAR_RAW_DATA		(1ULL << 1)

#define EXTENSION_BACKING_FORMAT	0xe2792acaU
#define EXTENSION_DATA_FILE		0x44415441U
#define EXTENSION_BITMAPS		0x23852875U
#define EXTENSION_CRYPTO		0x0537be77U

struct header {
	unsigned char *bytes;	/* the first cluster; zeros past the end of the file */
	__u64 length;		/* of the header; extensions follow */
	__u64 end;		/* of the extensions */
	__u64 autoclear;
};

bool qcow2_is(const void *bytes, size_t length)
{
	return length >= 8 && !memcmp(bytes, "QFI\xfb", 4) && qcow2_u32((const char *)bytes + 4) >= 2;
}

static char *parse_sizes(struct qcow2 *q, const unsigned char *header)
{
	q->version = qcow2_u32(header + 4);
	q->cluster_bits = qcow2_u32(header + 20);
	q->size = qcow2_u64(header + 24);
	q->l1_entries = qcow2_u32(header + 36);
	q->l1 = qcow2_u64(header + 40);
	q->refcounts = qcow2_u64(header + 48);
	q->refcount_clusters = qcow2_u32(header + 56);
	q->nr_snapshots = qcow2_u32(header + 60);
	q->snapshot_table = qcow2_u64(header + 64);
	q->refcount_order = 4;
	if (q->version > 3)
		return xasprintf("has qcow2 version %u; only 2 and 3 can be read", q->version);
	if (q->cluster_bits < 9 || q->cluster_bits > 21)
		return xasprintf("is damaged: the size of its clusters, 2^%u bytes, is not between 512 bytes and 2 MiB", q->cluster_bits);
	if (qcow2_u32(header + 32))
		return xasprintf("is encrypted by QEMU, so it cannot be mapped");
	return NULL;
}

/* 0: zlib, 1: zstd. A header that ends before this field means zlib. */
static char *check_compression(const struct header *h, __u64 incompatible)
{
	unsigned int type = h->length > HEADER_V3 ? h->bytes[HEADER_V3] : 0;

	if (type > 1)
		return xasprintf("has unknown compression type %u", type);
	if (!type != !(incompatible & INCOMPATIBLE_COMPRESSION))
		return xasprintf("is damaged: its compression type %u contradicts its features", type);
	return NULL;
}

static char *parse_features(struct qcow2 *q, struct header *h)
{
	__u64 incompatible = qcow2_u64(h->bytes + 72);

	h->autoclear = qcow2_u64(h->bytes + 88);
	h->length = qcow2_u32(h->bytes + 100);
	q->refcount_order = qcow2_u32(h->bytes + 96);
	q->has_data_file = incompatible & INCOMPATIBLE_DATA_FILE;
	q->extended = incompatible & INCOMPATIBLE_EXTENDED;
	if (h->length < HEADER_V3 || h->length > qcow2_cluster(q))
		return xasprintf("is damaged: its header has %llu bytes", h->length);
	if (incompatible & ~INCOMPATIBLE_KNOWN)
		return xasprintf("has unknown incompatible features (bits 0x%llx)",
				 incompatible & ~INCOMPATIBLE_KNOWN);
	if (q->refcount_order > 6)
		return xasprintf("is damaged: its refcounts have 2^%u bits", q->refcount_order);
	if (q->extended && q->cluster_bits < 14)
		return xasprintf("is damaged: its clusters are too small for subclusters");
	if (h->autoclear & AUTOCLEAR_RAW_DATA && !q->has_data_file)
		return xasprintf("is damaged: it is marked as having a raw external data file, but has none");
	return check_compression(h, incompatible);
}

/* Copies the text of an extension. An empty text is stored as NULL. */
static void take_text(char **to, const unsigned char *bytes, __u32 size)
{
	free(*to);
	*to = size && *bytes ? xasprintf("%.*s", (int)size, (const char *)bytes) : NULL;
}

static char *take_extension(struct qcow2 *q, const struct header *h, __u32 type, __u64 at, __u32 size)
{
	switch (type) {
	case EXTENSION_BACKING_FORMAT:
		if (size > BACKING_FORMAT_MAX)
			return xasprintf("is damaged: the name of its backing format has %u bytes", size);
		take_text(&q->backing_format, h->bytes + at, size);
		return NULL;
	case EXTENSION_DATA_FILE:
		take_text(&q->data_file, h->bytes + at, size);
		return NULL;
	case EXTENSION_CRYPTO:
		return xstrdup("is damaged: it has an encryption header, but is not encrypted");
	case EXTENSION_BITMAPS:
		if (size != BITMAPS_BYTES)
			return xasprintf("is damaged: the bitmaps extension has %u bytes", size);
		/* without the bit, the bitmaps are out of date and ignored */
		return h->autoclear & AUTOCLEAR_BITMAPS ? qcow2_check_bitmaps(q, h->bytes + at) : NULL;
	default:
		return NULL;
	}
}

static char *parse_extensions(struct qcow2 *q, const struct header *h)
{
	__u64 at = h->length;
	char *why = NULL;

	while (!why && at < h->end) {
		__u32 type, size;

		if (h->end - at < 8)
			return xstrdup("is damaged: an extension of its header is truncated");
		type = qcow2_u32(h->bytes + at);
		size = qcow2_u32(h->bytes + at + 4);
		at += 8;
		if (size > h->end - at)
			return xasprintf("is damaged: an extension of its header has %u bytes, more than fit", size);
		if (!type)
			break;
		why = take_extension(q, h, type, at, size);
		at += ((__u64)size + 7) & ~7ULL;
	}
	return why;
}

/* The name of the backing file is in the first cluster, after the extensions. */
static char *parse_backing(struct qcow2 *q, struct header *h)
{
	__u64 at = qcow2_u64(h->bytes + 8), most;
	__u32 size = qcow2_u32(h->bytes + 16);

	h->end = at ? at : qcow2_cluster(q);
	if (!at)
		return NULL;
	most = at < qcow2_cluster(q) ? qcow2_cluster(q) - at : 0;
	if (at > qcow2_cluster(q) || size > (most < BACKING_MAX ? most : BACKING_MAX))
		return xasprintf("is damaged: the name of its backing file, %u bytes at %llu, is not in the header", size, at);
	take_text(&q->backing, h->bytes + at, size);
	return NULL;
}

static char *check_tables(struct qcow2 *q)
{
	__u64 l2_bytes = qcow2_l2_entries(q) << q->cluster_bits, bytes;
	char *why;

	if (q->l1_entries > L1_ENTRIES_MAX)
		return xasprintf("is damaged: its L1 table has %u entries", q->l1_entries);
	if (q->size && (q->size - 1) / l2_bytes >= q->l1_entries)
		return xasprintf("is damaged: its L1 table is too small for a disk of %llu bytes", q->size);
	/* QEMU rounds the size down to sectors */
	q->size &= ~511ULL;
	why = qcow2_check_table(q, "L1 table", q->l1, q->l1_entries * 8ULL);
	if (why)
		return why;
	bytes = (__u64)q->refcount_clusters << q->cluster_bits;
	if (!bytes)
		return xstrdup("is damaged: it has no refcount table");
	if (bytes > REFCOUNT_TABLE_MAX)
		return xasprintf("is damaged: its refcount table has %llu bytes", bytes);
	return qcow2_check_table(q, "refcount table", q->refcounts, bytes);
}

/* --- snapshots ---------------------------------------------------------------- */

/* Parses the entry of a snapshot at *@at, and advances *@at to the next one. */
static char *parse_snapshot(struct qcow2 *q, struct qcow2_snapshot *snapshot, __u64 *at)
{
	unsigned char entry[SNAPSHOT_READ] = "";
	ssize_t n = qcow2_read(q, entry, sizeof(entry), *at);
	__u32 extra = qcow2_u32(entry + 36);
	__u64 length;

	if (n < 0)
		return qcow2_cannot_read(n);
	if (n < SNAPSHOT_FIXED)
		return xasprintf("is damaged: its snapshot table at %llu is truncated", q->snapshot_table);
	if (extra > SNAPSHOT_EXTRA_MAX)
		return xasprintf("is damaged: a snapshot has %u bytes of unknown data", extra);
	*snapshot = (struct qcow2_snapshot){
		.l1 = qcow2_u64(entry), .l1_entries = qcow2_u32(entry + 8),
		.disk = extra >= 16 ? qcow2_u64(entry + 48) : q->size,
	};
	length = SNAPSHOT_FIXED + extra + (entry[12] << 8 | entry[13]) + (entry[14] << 8 | entry[15]);
	*at += (length + 7) & ~7ULL;
	q->snapshot_bytes = *at - q->snapshot_table;
	if (q->snapshot_bytes > SNAPSHOTS_BYTES)
		return xstrdup("is damaged: its snapshot table is larger than 64 MiB");
	return NULL;
}

static char *parse_snapshots(struct qcow2 *q)
{
	__u64 at = q->snapshot_table;
	char *why = NULL;
	__u32 i;

	if (q->nr_snapshots > SNAPSHOTS_MAX)
		return xasprintf("is damaged: it has %u snapshots", q->nr_snapshots);
	if (!q->nr_snapshots && (at & (qcow2_cluster(q) - 1) || at > OFFSET_MAX))
		return xasprintf("is damaged: the offset of its empty snapshot table is %llu", at);
	if (q->nr_snapshots)
		why = qcow2_check_table(q, "snapshot table", at, q->nr_snapshots * (__u64)SNAPSHOT_FIXED);
	if (why)
		return why;
	q->snapshots = xreallocarray(NULL, q->nr_snapshots + 1, sizeof(*q->snapshots));
	for (i = 0; !why && i < q->nr_snapshots; i++)
		why = parse_snapshot(q, &q->snapshots[i], &at);
	return why;
}

/* --- all of it ---------------------------------------------------------------- */

static char *parse(struct qcow2 *q, struct header *h)
{
	ssize_t length = qcow2_read(q, h->bytes, HEADER_MOST, 0);
	char *why;

	if (length < 0)
		return qcow2_cannot_read(length);
	if (length < HEADER_V2 || !qcow2_is(h->bytes, length))
		return xasprintf("is not a qcow2 image");
	why = parse_sizes(q, h->bytes);
	if (!why && q->version == 3 && length < HEADER_V3)
		why = xasprintf("is damaged: its header is truncated");
	if (!why && q->version == 3)
		why = parse_features(q, h);
	if (why)
		return why;
	length = qcow2_read(q, h->bytes, qcow2_cluster(q), 0);
	if (length < 0)
		return qcow2_cannot_read(length);
	why = parse_backing(q, h);
	if (!why)
		why = check_tables(q);
	if (!why)
		why = parse_extensions(q, h);
	return why ? why : parse_snapshots(q);
}

char *qcow2_open(struct qcow2 *q, int fd)
{
	struct header h = { .bytes = xreallocarray(NULL, 2 << 20, 1), .length = HEADER_V2 };
	char *why;

	memset(h.bytes, 0, 2 << 20);
	*q = (struct qcow2){ .fd = fd };
	why = parse(q, &h);
	free(h.bytes);
	return why;
}
