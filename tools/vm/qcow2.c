// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/xalloc.h"
#include "vm/qcow2.h"

#define WINDOW		65536

#define ENTRY_COPIED		(1ULL << 63)
#define ENTRY_COMPRESSED	(1ULL << 62)
#define ENTRY_ZERO		1ULL

#define REFCOUNT_OFFSET		0xfffffffffffffe00ULL	/* of an entry of the refcount table */

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

/* --- the file ---------------------------------------------------------------- */

ssize_t qcow2_read(const struct qcow2 *q, void *bytes, size_t length, __u64 at)
{
	size_t done = 0;
	ssize_t n = 1;

	while (n > 0 && done < length) {
		n = pread(q->fd, (char *)bytes + done, length - done, at + done);
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? n : 0;
		n = n < 0 ? 1 : n;
	}
	return done;
}

char *qcow2_cannot_read(ssize_t err)
{
	return xasprintf("cannot be read: %s", strerror(-err));
}

bool qcow2_has(struct qcow2 *q, __u64 at, __u64 bytes)
{
	off_t end;

	if (at <= q->file_size && bytes <= q->file_size - at)
		return true;
	end = lseek(q->fd, 0, SEEK_END);
	if (end > 0)
		q->file_size = end;
	return at <= q->file_size && bytes <= q->file_size - at;
}

char *qcow2_check_table(struct qcow2 *q, const char *name, __u64 at, __u64 bytes)
{
	if (at & (qcow2_cluster(q) - 1))
		return xasprintf("is damaged: the offset of its %s, %llu, is not that of a cluster", name, at);
	if (!qcow2_has(q, at, bytes))
		return xasprintf("is damaged: its %s at %llu is not in the file", name, at);
	return NULL;
}

__u64 qcow2_data(const struct qcow2 *q, __u64 at, __u64 end, __u64 *stop)
{
	off_t data = lseek(q->fd, at, SEEK_DATA), hole;

	*stop = end;
	/* devices do not support SEEK_DATA */
	if (data < 0)
		return errno == ENXIO ? end : at;
	if ((__u64)data >= end)
		return end;
	hole = lseek(q->fd, data, SEEK_HOLE);
	if (hole > data && (__u64)hole < end)
		*stop = hole;
	return data;
}

/* --- tables ---------------------------------------------------------------- */

char *qcow2_entry(struct qcow2 *q, struct qcow2_window *w, __u64 table, __u64 index, __u64 *entry)
{
	__u64 at = table + 8 * index;
	ssize_t n;

	if (!w->bytes || at < w->at || at + 8 > w->at + w->length) {
		if (!w->bytes)
			w->bytes = xreallocarray(NULL, WINDOW, 1);
		w->at = at;
		w->length = 0;
		n = qcow2_read(q, w->bytes, WINDOW, at);
		if (n < 0)
			return qcow2_cannot_read(n);
		memset(w->bytes + n, 0, WINDOW - n);
		w->length = WINDOW;
	}
	*entry = qcow2_u64(w->bytes + (at - w->at));
	return NULL;
}

__u64 qcow2_l2_entries(const struct qcow2 *q)
{
	return qcow2_cluster(q) / (q->extended ? 16 : 8);
}

char *qcow2_l2_of(struct qcow2 *q, __u64 entry, __u64 *table)
{
	*table = entry & QCOW2_OFFSET;
	return *table ? qcow2_check_table(q, "L2 table", *table, 1) : NULL;
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

char *qcow2_l2_next(struct qcow2 *q, struct qcow2_l2 *l2, __u64 *index, __u64 entry[2])
{
	__u64 size = q->extended ? 16 : 8, end = l2->table + qcow2_cluster(q), at = l2->table + l2->next * size;

	if (at < end && at >= l2->stop)
		at = qcow2_data(q, at, end, &l2->stop) & ~(size - 1);
	*index = (at - l2->table) / size;
	l2->next = *index + 1;
	return at < end ? qcow2_l2_entry(q, l2->table, *index, entry) : NULL;
}

/* --- reference counts -------------------------------------------------------- */

__u64 qcow2_refcount_entries(const struct qcow2 *q)
{
	return ((__u64)q->refcount_clusters << q->cluster_bits) / 8;
}

char *qcow2_refcount_block(struct qcow2 *q, __u64 index, __u64 *block)
{
	char *why = qcow2_entry(q, &q->refcount_window, q->refcounts, index, block);

	*block = why ? 0 : *block & REFCOUNT_OFFSET;
	return *block ? qcow2_check_table(q, "refcount block", *block, 1) : why;
}

/* Whether the refcount of a cluster is not 0. @number: its index in the refcount block. */
static char *is_counted(struct qcow2 *q, __u64 block, __u64 number, bool *is)
{
	unsigned int bits = 1u << q->refcount_order;
	__u64 bit = number * bits, entry = 0, count;
	char *why = qcow2_entry(q, &q->block_window, block, bit / 64, &entry);

	/* counts narrower than a byte fill it from its lowest bit on */
	if (bits >= 8)
		count = entry >> (64 - bits - bit % 64);
	else
		count = entry >> (56 - bit % 64 / 8 * 8) >> (bit % 8);
	*is = bits < 64 ? count & ((1ULL << bits) - 1) : count;
	return why;
}

/* The number of refcounts from @number on that lie in a hole of the file, and so are 0. */
static __u64 counts_in_hole(const struct qcow2 *q, __u64 block, __u64 number)
{
	__u64 at = block + ((number << q->refcount_order) / 8), stop, data;

	data = qcow2_data(q, at, block + qcow2_cluster(q), &stop);
	return data > at ? (((data - block) * 8) >> q->refcount_order) - number : 0;
}

char *qcow2_refcount(struct qcow2 *q, __u64 host, __u64 *end, bool *used)
{
	unsigned int block_bits = q->cluster_bits + 3 - q->refcount_order;
	__u64 cluster = host >> q->cluster_bits, last = (*end - 1) >> q->cluster_bits, block, nr;
	__u64 first = cluster & ((1ULL << block_bits) - 1), left = (1ULL << block_bits) - first;
	bool is;
	char *why;

	*used = false;
	if (cluster >> block_bits >= qcow2_refcount_entries(q))
		return NULL;
	why = qcow2_refcount_block(q, cluster >> block_bits, &block);
	nr = why || !block ? left : counts_in_hole(q, block, first);
	if (!why && !nr) {
		why = is_counted(q, block, first, used);
		for (nr = 1; !why && nr < left && cluster + nr <= last; nr++) {
			why = is_counted(q, block, first + nr, &is);
			if (is != *used)
				break;
		}
	}
	if (cluster + nr <= last)
		*end = (cluster + nr) << q->cluster_bits;
	return why;
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
		return xasprintf("is damaged: it has compressed data and an external data file");
	if (!qcow2_has(q, piece->host, 1))
		return xasprintf("is damaged: compressed data at %llu is not in the file", piece->host);
	/* the file may end before the last sector does */
	if (piece->host_length > q->file_size - piece->host)
		piece->host_length = q->file_size - piece->host;
	return NULL;
}

/* Stores the kind of the subcluster at @inside, and the length of the run with this kind. */
static char *decode_subclusters(const struct qcow2 *q, __u64 map, __u64 inside,
				struct qcow2_piece *piece)
{
	__u64 size = qcow2_cluster(q) / 32;
	unsigned int first = inside / size, i = first;
	__u32 allocated = map, zero = map >> 32;

	if (allocated & zero)
		return xasprintf("is damaged: a subcluster is marked as both allocated and zero");
	while (i < 32 && (allocated >> i & 1) == (allocated >> first & 1) &&
	       (zero >> i & 1) == (zero >> first & 1))
		i++;
	piece->length = i * size - inside;
	piece->kind = allocated >> first & 1 ? QCOW2_DATA :
		      zero >> first & 1 ? QCOW2_ZERO : QCOW2_UNALLOCATED;
	return NULL;
}

/* A cluster of data begins in the file, but may end past its end if the rest was not written. */
static char *check_data(struct qcow2 *q, const struct qcow2_piece *piece, __u64 host)
{
	if (piece->kind == QCOW2_DATA && !piece->has_host)
		return xasprintf("is damaged: a subcluster is allocated in a cluster without an offset");
	if (piece->kind != QCOW2_DATA)
		return NULL;
	if (!q->has_data_file && !qcow2_has(q, host, 1))
		return xasprintf("is damaged: data at %llu is not in the file", host);
	return NULL;
}

char *qcow2_decode(struct qcow2 *q, const __u64 entry[2], __u64 guest,
		   struct qcow2_piece *piece)
{
	__u64 host = entry[0] & QCOW2_OFFSET, inside = guest & (qcow2_cluster(q) - 1);
	bool zero = !q->extended && entry[0] & ENTRY_ZERO;
	char *why = NULL;

	*piece = (struct qcow2_piece){ .length = qcow2_cluster(q) - inside };
	if (entry[0] & ENTRY_COMPRESSED)
		return decode_compressed(q, entry[0], piece);
	/* offset 0 means none, as the header is there, but is valid in an external data file */
	piece->has_host = host || (q->has_data_file && entry[0] & ENTRY_COPIED && !zero);
	piece->host = host + inside;
	if (host & (qcow2_cluster(q) - 1))
		return xasprintf("is damaged: the offset of a cluster, %llu, is not aligned", host);
	if (q->has_data_file && piece->has_host && piece->host != guest)
		return xasprintf("is damaged: the disk's data at %llu is at %llu in its external data file, where offsets must be equal", guest, piece->host);
	if (zero && q->version < 3)
		return xasprintf("is damaged: version 2 has no clusters of zeros");
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

/* --- tables that are one run --------------------------------------------------- */

/*
 * A disk may be much larger than its file, because all entries of the L1 table can refer to the
 * same L2 table. If the entries of such a table form one run, the table is read only once, and is a
 * single piece from then on.
 */
struct run {
	__u64 table;		/* 0: a free slot */
	bool alike;
	struct qcow2_piece piece;	/* of its first entry, if they are alike */
};

struct qcow2_runs {
	struct run *at;
	size_t size, nr;	/* slots, a power of two; slots in use */
};

#define RUNS_LEAST	64

static struct run *find_run(const struct qcow2_runs *runs, __u64 table)
{
	size_t i = (table * 0x9e3779b97f4a7c15ULL >> 32) & (runs->size - 1);

	while (runs->at[i].table && runs->at[i].table != table)
		i = (i + 1) & (runs->size - 1);
	return &runs->at[i];
}

static struct run *add_run(struct qcow2 *q, __u64 table)
{
	struct qcow2_runs *runs = q->runs, old;
	struct run *run;
	size_t i;

	if (!runs) {
		runs = xreallocarray(NULL, 1, sizeof(*runs));
		*runs = (struct qcow2_runs){ 0 };
		q->runs = runs;
	}
	if (4 * runs->nr >= 3 * runs->size) {
		old = *runs;
		runs->size = old.size ? 2 * old.size : RUNS_LEAST;
		runs->at = xreallocarray(NULL, runs->size, sizeof(*runs->at));
		memset(runs->at, 0, runs->size * sizeof(*runs->at));
		for (i = 0; i < old.size; i++)
			if (old.at[i].table)
				*find_run(runs, old.at[i].table) = old.at[i];
		free(old.at);
	}
	runs->nr++;
	run = find_run(runs, table);
	*run = (struct run){ .table = table };
	return run;
}

/* Whether @p, which is @index clusters after @first, continues the same run. */
static bool goes_on(const struct qcow2 *q, const struct qcow2_piece *first, const struct qcow2_piece *p,
		    __u64 index)
{
	return p->kind == first->kind && p->kind != QCOW2_COMPRESSED && p->length == qcow2_cluster(q) &&
	       p->has_host == first->has_host &&
	       (!p->has_host || p->host == first->host + (index << q->cluster_bits));
}

/*
 * Whether the whole table is one run. A table with a damaged entry is not: the damage is reported
 * when that entry is looked up.
 */
static bool is_alike(struct qcow2 *q, __u64 table, struct qcow2_piece *first)
{
	struct qcow2_l2 l2 = { .table = table };
	__u64 nr = qcow2_l2_entries(q), index, entry[2], last = 0;
	struct qcow2_piece piece;
	char *why;
	bool alike = true;

	*first = piece = (struct qcow2_piece){ .kind = QCOW2_UNALLOCATED };
	while (alike) {
		why = qcow2_l2_next(q, &l2, &index, entry);
		/* entries that were skipped are unallocated */
		if (index > last)
			alike = first->kind == QCOW2_UNALLOCATED;
		if (!why && index < nr)
			why = qcow2_decode(q, entry, index << q->cluster_bits, &piece);
		/* in an external data file, data has the guest's offset: the table cannot be shared */
		alike = alike && !why && !(q->has_data_file && piece.has_host);
		free(why);
		if (!alike || index >= nr)
			break;
		if (!index)
			*first = piece;
		alike = goes_on(q, first, &piece, index);
		last = index + 1;
	}
	return alike;
}

/* If the whole table is one run, stores its part from @index on as a piece, and returns true. */
static bool take_run(struct qcow2 *q, __u64 table, __u64 index, __u64 inside, __u64 wanted,
		     struct qcow2_piece *piece)
{
	__u64 nr = qcow2_l2_entries(q), before = (index << q->cluster_bits) + inside;
	struct run *run = q->runs ? find_run(q->runs, table) : NULL;

	if ((!run || !run->table) && (before || wanted <= nr << q->cluster_bits))
		return false;
	if (!run || !run->table) {
		run = add_run(q, table);
		run->alike = is_alike(q, table, &run->piece);
	}
	if (!run->alike)
		return false;
	*piece = run->piece;
	piece->length = (nr << q->cluster_bits) - before;
	piece->host += piece->has_host ? before : 0;
	return true;
}

/* The number of entries from @index on that lie in a hole of the file, and so are 0. */
static __u64 entries_in_hole(struct qcow2 *q, __u64 table, __u64 index)
{
	__u64 size = q->extended ? 16 : 8, at = table + index * size, data;

	if (at >= q->data && at < q->data_stop)
		return 0;
	data = qcow2_data(q, at, table + qcow2_cluster(q), &q->data_stop);
	q->data = data;
	return (data - at) / size;
}

/* Extends the unallocated piece at @index by the entries after it that lie in a hole. */
static void take_hole(struct qcow2 *q, __u64 table, __u64 index, struct qcow2_piece *piece)
{
	__u64 nr = entries_in_hole(q, table, index);

	if (nr > 1)
		piece->length += (nr - 1) << q->cluster_bits;
}

char *qcow2_at(struct qcow2 *q, __u64 guest, __u64 wanted, struct qcow2_piece *piece)
{
	__u64 cluster = guest >> q->cluster_bits, inside = guest & (qcow2_cluster(q) - 1);
	__u64 index = cluster % qcow2_l2_entries(q), entry[2], table = 0;
	char *why;

	*piece = (struct qcow2_piece){ .length = qcow2_cluster(q) - inside };
	why = qcow2_entry(q, &q->l1_window, q->l1, cluster / qcow2_l2_entries(q), &entry[0]);
	if (!why)
		why = qcow2_l2_of(q, entry[0], &table);
	if (!why && !table)
		piece->length += (qcow2_l2_entries(q) - 1 - index) << q->cluster_bits;
	if (!why && table && !take_run(q, table, index, inside, wanted, piece)) {
		why = qcow2_l2_entry(q, table, index, entry);
		if (!why)
			why = qcow2_decode(q, entry, guest, piece);
		if (!why && !entry[0] && !entry[1])
			take_hole(q, table, index, piece);
	}
	if (piece->length > q->size - guest)
		piece->length = q->size - guest;
	return why;
}

void qcow2_close(struct qcow2 *q)
{
	free(q->backing);
	free(q->backing_format);
	free(q->data_file);
	free(q->snapshots);
	free(q->l1_window.bytes);
	free(q->l2_window.bytes);
	free(q->refcount_window.bytes);
	free(q->block_window.bytes);
	if (q->runs)
		free(q->runs->at);
	free(q->runs);
	*q = (struct qcow2){ .fd = -1 };
}
