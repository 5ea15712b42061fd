/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace as Perfetto reads it: a stream of packets of Protocol Buffers, with
 *
 *	a track for each thread, on which an operation is a slice, or an instant if it took no time;
 *	tracks for what can be under way several times at once: the requests of a disk, of io_uring;
 *	a counter for each disk: the requests that were in its queue or in the device;
 *	a flow to each request from an instant "submit" on the track of its thread, inside the
 *	call in which it was made;
 *	a track that tells what is missing.
 *
 * Slices have the fields of the record that are not 0 as arguments, with the names of our columns.
 * What is the same for many packets is written once, and then named by number: strings, tracks.
 * Memory grows with these.
 */
#ifndef TOOL_TRACE_PERFETTO_H
#define TOOL_TRACE_PERFETTO_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/basis.h"
#include "trace/category.h"
#include "trace/intern.h"
#include "trace/measure.h"
#include "trace/output.h"
#include "trace/row.h"

struct check;
struct perfetto_field;
struct perfetto_track;

struct perfetto {
	/* set before perfetto_begin(): */
	struct output output;		/* all but what output_open() sets; suffix "pftrace" */
	const struct check *check;
	const struct paths *paths;
	const struct anonymizer *anonymizer;	/* or NULL */

	struct intern words;		/* names of operations, categories and arguments */
	unsigned char *paths_written;	/* a bit for each path */
	struct intern keys;		/* of tracks */
	struct perfetto_track *tracks;	/* by the number of their key */
	size_t room_tracks;
	__u64 last;			/* ns: when the last event ended */
	__u64 flows;			/* requests so far */
	bool failed;			/* which was reported */

	/* of the present category: */
	const struct category *category;
	struct row_printer printer;
	struct basis basis;		/* what is counted of it */
	struct measurer measurer;
	const struct row_column *comm;
	const struct iot_schema_field *pid, *tid, *disk;
	struct perfetto_field *fields;
	size_t nr_fields;
	__u32 category_word, error_word, command_word;
};

/* Each returns false if it failed, which was reported. */
bool perfetto_begin(struct perfetto *p);
bool perfetto_begin_category(struct perfetto *p, const struct category *category);

/* Adds a record. @note: its command line, or NULL. Records come in the order in which they end. */
bool perfetto_put(struct perfetto *p, const void *record, const char *note, size_t length);

/* Tells that @missing events of a CPU are missing before a record. */
bool perfetto_miss(struct perfetto *p, const void *record, unsigned int cpu, __u64 missing);

/* Before it, the caller adds what is missing to p->basis. */
bool perfetto_end_category(struct perfetto *p);

/* Writes what is left, and frees all. */
bool perfetto_end(struct perfetto *p);

#endif /* TOOL_TRACE_PERFETTO_H */
