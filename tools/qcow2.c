// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "qcow2.h"

/* The same limits as QEMU has. */
#define L1_ENTRIES_MAX		(32u << 20 >> 3)
#define REFCOUNT_TABLE_MAX	(8u << 20)
#define SNAPSHOTS_MAX		65536
#define NAME_MAX_BYTES		1023

#define WINDOW		65536
#define HEADER_V2	72
#define HEADER_V3	104

#define INCOMPATIBLE_DATA_FILE	(1ULL << 2)
#define INCOMPATIBLE_EXTENDED	(1ULL << 4)
#define INCOMPATIBLE_KNOWN	0x1fULL		/* dirty, corrupt, compression type besides */

#define EXTENSION_BACKING_FORMAT	0xe2792acaU
#define EXTENSION_DATA_FILE		0x44415441U

#define ENTRY_COPIED		(1ULL << 63)
#define ENTRY_COMPRESSED	(1ULL << 62)
#define ENTRY_ZERO		1ULL

__u32 qcow2_u32(const void *bytes)
{
	__u32 n;

	memcpy(&n, bytes, sizeof(n));
	return be32toh(n);
}

__u64 qcow2_u64(const void *bytes)
{
	__u64 n;

	memcpy(&n, bytes, sizeof(n));
	return be64toh(n);
}

bool qcow2_is(const void *bytes, size_t length)
{
	return length >= 8 && !memcmp(bytes, "QFI\xfb", 4) && qcow2_u32((const char *)bytes + 4) >= 2;
}

/* Reads up to @length bytes. Returns how many there are, or a negative errno. */
static ssize_t read_at(int fd, void *bytes, size_t length, __u64 at)
{
	size_t done = 0;
	ssize_t n = 1;

	while (n > 0 && done < length) {
		n = pread(fd, (char *)bytes + done, length - done, at + done);
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? n : 0;
		n = n < 0 ? 1 : n;
	}
	return done;
}

static char *cannot_read(ssize_t err)
{
	return cli_printf("cannot be read: %s", strerror(-err));
}

static __u64 cluster_size(const struct qcow2 *q)
{
	return 1ULL << q->cluster_bits;
}

/* Whether the bytes lie in the file, which may have grown since it was opened. */
static bool is_in_file(struct qcow2 *q, __u64 at, __u64 bytes)
{
	off_t end;

	if (at <= q->file_size && bytes <= q->file_size - at)
		return true;
	end = lseek(q->fd, 0, SEEK_END);
	if (end > 0)
		q->file_size = end;
	return at <= q->file_size && bytes <= q->file_size - at;
}

/* NULL if @bytes bytes at @at, where a cluster begins, lie in the file. */
static char *check_table(struct qcow2 *q, const char *name, __u64 at, __u64 bytes)
{
	if (at & (cluster_size(q) - 1))
		return cli_printf("is damaged: the offset of its %s, %llu, is not that of a cluster", name, at);
	if (!is_in_file(q, at, bytes))
		return cli_printf("is damaged: its %s at %llu is not in the file", name, at);
	return NULL;
}

/* --- the header ------------------------------------------------------------ */

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
	q->snapshots = qcow2_u64(header + 64);
	q->refcount_order = 4;
	if (q->version > 3)
		return cli_printf("has version %u of qcow2; 2 and 3 can be read", q->version);
	if (q->cluster_bits < 9 || q->cluster_bits > 21)
		return cli_printf("is damaged: its clusters have 2^%u bytes, which is not 512 to 2 MiB", q->cluster_bits);
	if (qcow2_u32(header + 32))
		return cli_printf("is encrypted by QEMU; such an image cannot be mapped");
	return NULL;
}

static char *parse_features(struct qcow2 *q, const unsigned char *header, __u64 *header_length)
{
	__u64 incompatible = qcow2_u64(header + 72);

	*header_length = qcow2_u32(header + 100);
	q->refcount_order = qcow2_u32(header + 96);
	q->has_data_file = incompatible & INCOMPATIBLE_DATA_FILE;
	q->extended = incompatible & INCOMPATIBLE_EXTENDED;
	if (incompatible & ~INCOMPATIBLE_KNOWN)
		return cli_printf("has features that are not known here (bits 0x%llx of the incompatible ones)",
				  incompatible & ~INCOMPATIBLE_KNOWN);
	if (*header_length < HEADER_V3 || *header_length > cluster_size(q))
		return cli_printf("is damaged: its header has %llu bytes", *header_length);
	if (q->refcount_order > 6)
		return cli_printf("is damaged: its reference counts have 2^%u bits", q->refcount_order);
	if (q->extended && q->cluster_bits < 14)
		return cli_printf("is damaged: its clusters are too small for subclusters");
	return NULL;
}

/* @bytes is the first cluster, as far as it is in the file. */
static char *parse_extensions(struct qcow2 *q, const unsigned char *bytes, __u64 length, __u64 at)
{
	while (at + 8 <= length) {
		__u32 type = qcow2_u32(bytes + at), size = qcow2_u32(bytes + at + 4);
		char **to = type == EXTENSION_BACKING_FORMAT ? &q->backing_format :
			    type == EXTENSION_DATA_FILE ? &q->data_file : NULL;

		if (!type)
			break;
		at += 8;
		if (size > length - at)
			return cli_printf("is damaged: an extension of its header has %u bytes", size);
		if (to && size <= NAME_MAX_BYTES) {
			free(*to);
			*to = cli_printf("%.*s", (int)size, (const char *)bytes + at);
		}
		at += ((__u64)size + 7) & ~7ULL;
	}
	return NULL;
}

static char *parse_backing(struct qcow2 *q, const unsigned char *header)
{
	__u64 at = qcow2_u64(header + 8);
	__u32 size = qcow2_u32(header + 16);
	char name[NAME_MAX_BYTES + 1] = "";
	ssize_t n;

	if (!at || !size)
		return NULL;
	if (size > NAME_MAX_BYTES || !is_in_file(q, at, size))
		return cli_printf("is damaged: the name of its backing file, %u bytes at %llu, is not in the file", size, at);
	n = read_at(q->fd, name, size, at);
	if (n < 0)
		return cannot_read(n);
	q->backing = cli_strdup(name);
	return NULL;
}

static char *check_tables(struct qcow2 *q)
{
	__u64 l2_bytes = qcow2_l2_entries(q) << q->cluster_bits, bytes;
	char *why;

	if (q->l1_entries > L1_ENTRIES_MAX)
		return cli_printf("is damaged: its L1 table has %u entries", q->l1_entries);
	if (q->size && (q->size - 1) / l2_bytes >= q->l1_entries)
		return cli_printf("is damaged: a disk of %llu bytes is more than its L1 table holds", q->size);
	why = check_table(q, "L1 table", q->l1, q->l1_entries * 8ULL);
	if (why)
		return why;
	bytes = (__u64)q->refcount_clusters << q->cluster_bits;
	if (bytes > REFCOUNT_TABLE_MAX)
		return cli_printf("is damaged: its refcount table has %llu bytes", bytes);
	why = check_table(q, "refcount table", q->refcounts, bytes);
	if (why)
		return why;
	if (q->nr_snapshots > SNAPSHOTS_MAX)
		return cli_printf("is damaged: it has %u snapshots", q->nr_snapshots);
	return q->nr_snapshots ? check_table(q, "snapshot table", q->snapshots, 8) : NULL;
}

static char *parse_header(struct qcow2 *q, unsigned char *first)
{
	ssize_t length = read_at(q->fd, first, HEADER_V3, 0);
	__u64 header_length = HEADER_V2;
	char *why;

	if (length < 0)
		return cannot_read(length);
	if (length < HEADER_V2 || !qcow2_is(first, length))
		return cli_printf("is no qcow2 image");
	why = parse_sizes(q, first);
	if (!why && q->version == 3 && length < HEADER_V3)
		why = cli_printf("is damaged: its header is cut off");
	if (!why && q->version == 3)
		why = parse_features(q, first, &header_length);
	if (why)
		return why;
	length = read_at(q->fd, first, cluster_size(q), 0);
	if (length < 0)
		return cannot_read(length);
	why = parse_extensions(q, first, length, header_length);
	if (!why)
		why = parse_backing(q, first);
	return why ? why : check_tables(q);
}

char *qcow2_open(struct qcow2 *q, int fd)
{
	unsigned char *first = cli_grow(NULL, 2 << 20, 1);
	char *why;

	*q = (struct qcow2){ .fd = fd };
	why = parse_header(q, first);
	free(first);
	return why;
}

void qcow2_close(struct qcow2 *q)
{
	free(q->backing);
	free(q->backing_format);
	free(q->data_file);
	free(q->l1_window.bytes);
	free(q->l2_window.bytes);
	free(q->refcount_window.bytes);
	free(q->block_window.bytes);
	*q = (struct qcow2){ .fd = -1 };
}

/* --- tables ---------------------------------------------------------------- */

char *qcow2_entry(struct qcow2 *q, struct qcow2_window *w, __u64 table, __u64 index, __u64 *entry)
{
	__u64 at = table + 8 * index;
	ssize_t n;

	if (!w->bytes || at < w->at || at + 8 > w->at + w->length) {
		if (!w->bytes)
			w->bytes = cli_grow(NULL, WINDOW, 1);
		w->at = at;
		w->length = 0;
		n = read_at(q->fd, w->bytes, WINDOW, at);
		if (n < 0)
			return cannot_read(n);
		memset(w->bytes + n, 0, WINDOW - n);
		w->length = WINDOW;
	}
	*entry = qcow2_u64(w->bytes + (at - w->at));
	return NULL;
}

__u64 qcow2_l2_entries(const struct qcow2 *q)
{
	return cluster_size(q) / (q->extended ? 16 : 8);
}

char *qcow2_l2_of(struct qcow2 *q, __u64 entry, __u64 *table)
{
	*table = entry & QCOW2_OFFSET;
	return *table ? check_table(q, "L2 table", *table, 1) : NULL;
}

char *qcow2_l2_entry(struct qcow2 *q, __u64 table, __u64 index, __u64 entry[2])
{
	char *why;

	entry[1] = 0;
	if (!q->extended)
		return qcow2_entry(q, &q->l2_window, table, index, &entry[0]);
	why = qcow2_entry(q, &q->l2_window, table, 2 * index, &entry[0]);
	return why ? why : qcow2_entry(q, &q->l2_window, table, 2 * index + 1, &entry[1]);
}

char *qcow2_refcount(struct qcow2 *q, __u64 host, __u64 *count)
{
	__u64 cluster = host >> q->cluster_bits, block, entry;
	unsigned int bits = 1u << q->refcount_order;
	unsigned int block_bits = q->cluster_bits + 3 - q->refcount_order;
	__u64 bit = (cluster & ((1ULL << block_bits) - 1)) * bits;
	char *why;

	*count = 0;
	if (cluster >> block_bits >= ((__u64)q->refcount_clusters << q->cluster_bits) / 8)
		return NULL;
	why = qcow2_entry(q, &q->refcount_window, q->refcounts, cluster >> block_bits, &block);
	block &= QCOW2_OFFSET;
	if (why || !block)
		return why;
	why = check_table(q, "refcount block", block, 1);
	if (!why)
		why = qcow2_entry(q, &q->block_window, block, bit / 64, &entry);
	if (why)
		return why;
	/* counts of less than a byte fill it from its lowest bit on */
	if (bits >= 8)
		*count = entry >> (64 - bits - bit % 64);
	else
		*count = entry >> (56 - bit % 64 / 8 * 8) >> (bit % 8);
	if (bits < 64)
		*count &= (1ULL << bits) - 1;
	return NULL;
}

/* --- the guest's disk ------------------------------------------------------ */

static char *decode_compressed(struct qcow2 *q, __u64 entry, struct qcow2_piece *piece)
{
	unsigned int offset_bits = 62 - (q->cluster_bits - 8);
	__u64 sectors = (entry & (ENTRY_COMPRESSED - 1)) >> offset_bits;

	piece->kind = QCOW2_COMPRESSED;
	piece->has_host = true;
	piece->host = entry & ((1ULL << offset_bits) - 1);
	piece->host_length = (sectors + 1) * 512 - piece->host % 512;
	if (q->has_data_file)
		return cli_printf("is damaged: it has compressed data and an external data file");
	if (!is_in_file(q, piece->host, 1))
		return cli_printf("is damaged: compressed data at %llu is not in the file", piece->host);
	/* the last sector is not always written in full */
	if (piece->host_length > q->file_size - piece->host)
		piece->host_length = q->file_size - piece->host;
	return NULL;
}

/* The kind of the subcluster, and how many of them follow that have the same. */
static char *decode_subclusters(const struct qcow2 *q, __u64 map, __u64 inside,
				struct qcow2_piece *piece)
{
	__u64 size = cluster_size(q) / 32;
	unsigned int first = inside / size, i = first;
	__u32 allocated = map, zero = map >> 32;

	if (allocated & zero)
		return cli_printf("is damaged: a subcluster is said to be both allocated and zero");
	while (i < 32 && (allocated >> i & 1) == (allocated >> first & 1) &&
	       (zero >> i & 1) == (zero >> first & 1))
		i++;
	piece->length = i * size - inside;
	piece->kind = allocated >> first & 1 ? QCOW2_DATA :
		      zero >> first & 1 ? QCOW2_ZERO : QCOW2_UNALLOCATED;
	return NULL;
}

/* A cluster begins at @host, in the file. Its rest need not be: it is not always written. */
static char *check_data(struct qcow2 *q, const struct qcow2_piece *piece, __u64 host)
{
	if (piece->kind == QCOW2_DATA && !piece->has_host)
		return cli_printf("is damaged: a subcluster is allocated in a cluster that has no place");
	if (piece->kind != QCOW2_DATA)
		return NULL;
	if (!q->has_data_file && !is_in_file(q, host, 1))
		return cli_printf("is damaged: data at %llu is not in the file", host);
	return NULL;
}

char *qcow2_decode(struct qcow2 *q, const __u64 entry[2], __u64 inside,
		   struct qcow2_piece *piece)
{
	__u64 host = entry[0] & QCOW2_OFFSET;
	bool zero = !q->extended && entry[0] & ENTRY_ZERO;
	char *why = NULL;

	*piece = (struct qcow2_piece){ .length = cluster_size(q) - inside };
	if (entry[0] & ENTRY_COMPRESSED)
		return decode_compressed(q, entry[0], piece);
	/* offset 0 is that of the header, but of an external data file it is one as any other */
	piece->has_host = host || (q->has_data_file && entry[0] & ENTRY_COPIED);
	piece->host = host + inside;
	if (host & (cluster_size(q) - 1))
		return cli_printf("is damaged: the offset of a cluster is %llu", host);
	if (zero && q->version < 3)
		return cli_printf("is damaged: version 2 has no clusters of zeros");
	piece->kind = zero ? QCOW2_ZERO : piece->has_host ? QCOW2_DATA : QCOW2_UNALLOCATED;
	if (q->extended)
		why = decode_subclusters(q, entry[1], inside, piece);
	if (!why)
		why = check_data(q, piece, host);
	if (piece->kind == QCOW2_UNALLOCATED || !piece->has_host) {
		piece->has_host = false;
		piece->host = 0;
	}
	return why;
}

char *qcow2_at(struct qcow2 *q, __u64 guest, struct qcow2_piece *piece)
{
	__u64 cluster = guest >> q->cluster_bits, inside = guest & (cluster_size(q) - 1);
	__u64 index = cluster % qcow2_l2_entries(q), entry[2], table = 0;
	char *why;

	*piece = (struct qcow2_piece){ .length = cluster_size(q) - inside };
	why = qcow2_entry(q, &q->l1_window, q->l1, cluster / qcow2_l2_entries(q), &entry[0]);
	if (!why)
		why = qcow2_l2_of(q, entry[0], &table);
	if (!why && !table)
		piece->length += (qcow2_l2_entries(q) - 1 - index) << q->cluster_bits;
	if (!why && table)
		why = qcow2_l2_entry(q, table, index, entry);
	if (!why && table)
		why = qcow2_decode(q, entry, inside, piece);
	if (piece->length > q->size - guest)
		piece->length = q->size - guest;
	return why;
}
