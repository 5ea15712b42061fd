// SPDX-License-Identifier: GPL-2.0
/*
 * Bitmaps of changes, which an image keeps for backups. The tool needs nothing from them. But QEMU
 * does not open an image whose bitmaps are damaged, so the tool does not map one either.
 */
#include <stdlib.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "vm/qcow2.h"

/* QEMU's limits. */
#define BITMAPS_MAX	65535
#define DIRECTORY_MAX	(1024u * BITMAPS_MAX)
#define NAME_MOST	1023
#define BYTES_MAX	(512u << 20)	/* of a bitmap */
#define GRANULARITY_MIN	9
#define GRANULARITY_MAX	31

/* QEMU does not limit the sum of all tables. Reading this much takes a tenth of a second. */
#define TABLES_MAX	(64u << 20)

#define ENTRY_BYTES	24
#define FLAG_IN_USE	1u
#define FLAGS_KNOWN	3u
#define TYPE_DIRTY	1

#define RESERVED	0xff000000000001feULL	/* of an entry of a bitmap's table */

struct bitmap {
	__u64 table;
	__u32 entries;
	bool in_use;		/* its content is not valid */
	unsigned int granularity;
};

static char *broken(const char *why)
{
	return xasprintf("is damaged: its bitmaps: %s", why);
}

/* Entries that a bitmap of the disk needs in its table. */
static __u64 entries_of(const struct qcow2 *q, unsigned int granularity)
{
	__u64 bits = q->size ? ((q->size - 1) >> granularity) + 1 : 0;
	__u64 bytes = (bits + 63) / 64 * 8;

	return (bytes + qcow2_cluster(q) - 1) >> q->cluster_bits;
}

static char *check_entry(const struct qcow2 *q, __u64 entry)
{
	__u64 offset = entry & QCOW2_OFFSET;

	if (entry & RESERVED || (offset && entry & 1) || offset & (qcow2_cluster(q) - 1))
		return broken("an entry of a table is not valid");
	return NULL;
}

/* @all: bytes of tables checked so far. */
static char *check_table(struct qcow2 *q, const struct bitmap *b, __u64 *all)
{
	__u64 entry, i;
	char *why;

	if (b->in_use)
		return NULL;
	if (b->entries != entries_of(q, b->granularity))
		return broken("the size of a table does not match the disk");
	why = qcow2_check_table(q, "table of a bitmap", b->table, b->entries * 8ULL);
	*all += b->entries * 8ULL;
	if (!why && *all > TABLES_MAX)
		why = xstrdup("has bitmaps whose tables are larger than 64 MiB");
	for (i = 0; !why && i < b->entries; i++) {
		why = qcow2_entry(q, &q->block_window, b->table, i, &entry);
		if (!why)
			why = check_entry(q, entry);
	}
	return why;
}

static bool is_possible(const struct qcow2 *q, const struct bitmap *b, const unsigned char *entry)
{
	__u64 bytes = (__u64)b->entries << q->cluster_bits;

	return b->entries && bytes <= BYTES_MAX && b->table && !(b->table & (qcow2_cluster(q) - 1)) &&
	       b->granularity >= GRANULARITY_MIN && b->granularity <= GRANULARITY_MAX &&
	       !(qcow2_u32(entry + 12) & ~FLAGS_KNOWN) && entry[16] == TYPE_DIRTY &&
	       (entry[18] << 8 | entry[19]) <= NAME_MOST;
}

/* Checks an entry of the directory, which has @left bytes left. Stores the entry's *@length. */
static char *check_bitmap(struct qcow2 *q, const unsigned char *entry, __u64 left, __u64 *length, __u64 *all)
{
	struct bitmap b;

	if (left < ENTRY_BYTES)
		return broken("their directory is cut off");
	*length = (ENTRY_BYTES + (__u64)(entry[18] << 8 | entry[19]) + qcow2_u32(entry + 20) + 7) & ~7ULL;
	if (*length > left)
		return broken("their directory is cut off");
	if (qcow2_u32(entry + 20))
		return broken("one has unknown extra data");
	b = (struct bitmap){
		.table = qcow2_u64(entry), .entries = qcow2_u32(entry + 8),
		.in_use = qcow2_u32(entry + 12) & FLAG_IN_USE, .granularity = entry[17],
	};
	if (!is_possible(q, &b, entry))
		return broken("one has fields that are not valid");
	return check_table(q, &b, all);
}

static char *check_directory(struct qcow2 *q, const unsigned char *directory, __u64 size, __u32 number)
{
	__u64 at = 0, length = 0, all = 0;
	char *why = NULL;
	__u32 nr = 0;

	for (; !why && at < size && nr < number; nr++, at += length)
		why = check_bitmap(q, directory + at, size - at, &length, &all);
	if (!why && (nr != number || at != size))
		why = broken("their number differs between directory and header");
	return why;
}

char *qcow2_check_bitmaps(struct qcow2 *q, const unsigned char *extension)
{
	__u32 number = qcow2_u32(extension);
	__u64 size = qcow2_u64(extension + 8), at = qcow2_u64(extension + 16);
	unsigned char *directory;
	char *why;
	ssize_t n;

	if (qcow2_u32(extension + 4) || !number || number > BITMAPS_MAX || size > DIRECTORY_MAX)
		return broken("their header extension is not valid");
	why = qcow2_check_table(q, "directory of bitmaps", at, size);
	if (why)
		return why;
	directory = xreallocarray(NULL, size + 1, 1);
	n = qcow2_read(q, directory, size, at);
	if (n < 0)
		why = qcow2_cannot_read(n);
	else
		why = check_directory(q, directory, n, number);
	free(directory);
	return why;
}
