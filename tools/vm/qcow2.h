/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the layout of a qcow2 image. The image may be in use, and its contents are not trusted: each
 * table must lie inside the file and below a limit, and is read through windows of a fixed size. An
 * image that QEMU refuses to open is refused. Work and memory are bounded by the bytes that the file
 * occupies, not by the numbers in it.
 *
 * Functions that return char * return NULL, or an error message without a subject, which the caller
 * frees.
 */
#ifndef TOOL_VM_QCOW2_H
#define TOOL_VM_QCOW2_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/types.h>

/* The range of the file that was read last. */
struct qcow2_window {
	unsigned char *bytes;	/* NULL: nothing was read */
	__u64 at;
	size_t length;
};

struct qcow2_snapshot {
	__u64 l1;
	__u32 l1_entries;
	__u64 disk;		/* size of the disk as of the snapshot, bytes */
};

struct qcow2 {
	int fd;			/* of the caller */
	__u64 file_size;	/* it may grow meanwhile */
	__u64 size;		/* of the disk that the guest sees, bytes */
	__u32 version;
	unsigned int cluster_bits;
	bool extended;		/* L2 entries have subclusters */
	bool has_data_file;
	char *backing;		/* backing file as named in the image; NULL: none */
	char *backing_format;	/* NULL: not named */
	char *data_file;	/* NULL: not named */
	__u64 l1, refcounts;	/* offsets of tables in the file */
	__u32 l1_entries, refcount_clusters;
	unsigned int refcount_order;
	struct qcow2_snapshot *snapshots;
	__u32 nr_snapshots;
	__u64 snapshot_table, snapshot_bytes;	/* their table: offset and size */
	struct qcow2_window l1_window, l2_window, refcount_window, block_window;
	struct qcow2_runs *runs;	/* L2 tables that are one piece, see qcow2_at() */
	__u64 data, data_stop;	/* a range of the file without holes */
};

/* Whether a file that begins with these bytes is a qcow2 image. */
bool qcow2_is(const void *bytes, size_t length);

/* Close it after an error, too. */
char *qcow2_open(struct qcow2 *q, int fd);
void qcow2_close(struct qcow2 *q);

enum qcow2_kind {
	QCOW2_UNALLOCATED,	/* stored by the backing file; reads as zeros if there is none */
	QCOW2_ZERO,		/* reads as zeros; may have space in the file */
	QCOW2_DATA,
	QCOW2_COMPRESSED,
};

/* A range of the guest's disk, and where the file, or the external data file, stores it. */
struct qcow2_piece {
	enum qcow2_kind kind;
	__u64 length;		/* of the guest's bytes; not 0 */
	bool has_host;
	__u64 host;		/* offset in the file */
	__u64 host_length;	/* of compressed data: bytes, at most */
};

/*
 * Looks up the piece at @guest, which is below the size of the disk. A piece is at most a cluster, or
 * the range of an L1 entry without a table. @wanted: bytes that the caller will look up in all; if
 * they span several L2 tables, a table with uniform entries is read only once.
 */
char *qcow2_at(struct qcow2 *q, __u64 guest, __u64 wanted, struct qcow2_piece *piece);

/* Reads an entry of a table of big-endian 64-bit entries. Entries beyond the end of the file are 0. */
char *qcow2_entry(struct qcow2 *q, struct qcow2_window *w, __u64 table, __u64 index, __u64 *entry);

/* Decodes an L2 entry for the part of its cluster from @guest on. */
char *qcow2_decode(struct qcow2 *q, const __u64 entry[2], __u64 guest,
		   struct qcow2_piece *piece);

/* Stores the offset of the L2 table of an L1 entry in *@table; 0 if it has none. */
char *qcow2_l2_of(struct qcow2 *q, __u64 entry, __u64 *table);

/* The number of entries of an L2 table; reads entry @index of the table at @table. */
__u64 qcow2_l2_entries(const struct qcow2 *q);
char *qcow2_l2_entry(struct qcow2 *q, __u64 table, __u64 index, __u64 entry[2]);

/*
 * Iterates over an L2 table. The caller sets @table. *@index is set to the index of the next entry, or
 * to the number of entries at the end. Entries in a hole of the file, which are 0, are skipped.
 */
struct qcow2_l2 {
	__u64 table;
	__u64 next, stop;
};

char *qcow2_l2_next(struct qcow2 *q, struct qcow2_l2 *l2, __u64 *index, __u64 entry[2]);

/*
 * Whether the cluster at offset @host is in use, by the image's refcounts. *@end is lowered to the
 * offset up to which the answer holds.
 */
char *qcow2_refcount(struct qcow2 *q, __u64 host, __u64 *end, bool *used);

/* The offset of a refcount block, 0 if there is none. */
char *qcow2_refcount_block(struct qcow2 *q, __u64 index, __u64 *block);
__u64 qcow2_refcount_entries(const struct qcow2 *q);

/* Numbers of an image, which are big-endian. */
__u32 qcow2_u32(const void *bytes);
__u64 qcow2_u64(const void *bytes);

#define QCOW2_OFFSET	0x00fffffffffffe00ULL	/* of an entry of a table */

/* --- for qcow2_*.c --------------------------------------------------------------- */

static inline __u64 qcow2_cluster(const struct qcow2 *q)
{
	return 1ULL << q->cluster_bits;
}

/* Reads up to @length bytes. Returns how many there are, or a negative errno. */
ssize_t qcow2_read(const struct qcow2 *q, void *bytes, size_t length, __u64 at);
char *qcow2_cannot_read(ssize_t err);

/* Whether the bytes lie in the file, which may have grown since it was opened. */
bool qcow2_has(struct qcow2 *q, __u64 at, __u64 bytes);

/* NULL if @bytes bytes at @at, where a cluster begins, lie in the file. */
char *qcow2_check_table(struct qcow2 *q, const char *name, __u64 at, __u64 bytes);

/*
 * The first offset from @at on, up to @end, at which the file has data, and in *@stop where that
 * data ends; @end if there is a hole up to it, which reads as zeros.
 */
__u64 qcow2_data(const struct qcow2 *q, __u64 at, __u64 end, __u64 *stop);

/* Checks the bitmaps of an image. @extension: the content of the bitmaps header extension. */
char *qcow2_check_bitmaps(struct qcow2 *q, const unsigned char *extension);

#endif /* TOOL_VM_QCOW2_H */
